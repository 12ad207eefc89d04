"""Duplicates: within a run, by id, and against accepted items. The later path loses and names the earlier."""

from scripted_server import ScriptedServer, avoiding, by_model, computing

from .pool import OPTIONS, PROVIDER, SCREEN, SOLVE, VALUE, VERIFY, Pool

LINT = "--toolgate-gates=lint"
DUPLICATE = "rejected lint duplicate"
PASSED = "provisional lint"
_TURNED = {"A": OPTIONS["D"], "B": OPTIONS["C"], "C": OPTIONS["B"], "D": OPTIONS["A"]}


def test_the_later_path_loses_and_names_the_earlier(pool: Pool, workers: int) -> None:
    pool.add("a-first", question="What is it?")
    pool.add("b-same", question="What is it?")
    pool.add("c-other-order", question="What  is\nit?", options=_TURNED, answer="C")
    pool.add("d-other-options", question="What is it?", options={**OPTIONS, "D": "0.07"})
    pool.add("e-named", id="item-1")
    pool.add("f-named-too", id="item-1")
    pool.add("g-broken", id="item-1", answer="E")
    session = pool.run(LINT, workers=workers)
    assert session.verdicts == {
        "a-first": PASSED,
        "b-same": DUPLICATE,
        "c-other-order": DUPLICATE,
        "d-other-options": PASSED,
        "e-named": PASSED,
        "f-named-too": DUPLICATE,
        "g-broken": "rejected lint bad-answer",
    }
    assert "`candidates/a-first.yaml`" in session.cases["c-other-order"].headline
    assert "`candidates/e-named.yaml`" in session.cases["f-named-too"].headline
    # Alone, neither repeats anything.
    assert pool.run(LINT, "candidates/b-same.yaml").verdicts == {"b-same": PASSED}


def _accept(pool: Pool, server: ScriptedServer) -> None:
    """Get the candidate `first` accepted."""
    pool.add("first", question="What is it?")
    pool.configure(PROVIDER, VERIFY, SCREEN, SOLVE, url=server.base_url)
    server.script = by_model({"screen-model": avoiding(VALUE), "agent-model": computing(VALUE)})
    assert pool.run().verdicts == {"first": "accepted solve"}


def test_accepted_items_come_first(pool: Pool, server: ScriptedServer) -> None:
    _accept(pool, server)
    assert pool.run(LINT).verdicts == {"first": PASSED}  # no duplicate of its own item
    pool.add("again", question="What is it?", options=_TURNED, answer="C")
    pool.add("named", id="first")
    session = pool.run(LINT, "candidates/again.yaml", "candidates/named.yaml")
    assert session.verdicts == {"again": DUPLICATE, "named": DUPLICATE}
    assert "the accepted item `first`" in session.cases["again"].headline
    assert "the accepted item `first`" in session.cases["named"].headline
    assert pool.accepted() == ["first"]


def test_an_accepted_candidate_is_no_duplicate_of_what_repeats_it(pool: Pool, server: ScriptedServer) -> None:
    """A copy under an earlier path must neither reject the accepted candidate nor remove its item."""
    _accept(pool, server)
    pool.add("again", question="What is it?", options=_TURNED, answer="C")
    pool.add("early", id="first")
    assert pool.run(LINT).verdicts == {"first": PASSED, "again": DUPLICATE, "early": DUPLICATE}
    assert pool.accepted() == ["first"]
