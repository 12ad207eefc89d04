"""`toolgate rescreen`: screens and solvers over what the database holds, under a name."""

import json
import signal
import threading

import pytest
from exchange import Asked
from scripted_server import Reply, ScriptedServer

from .audits import SCREENS, SOLVERS, Audited
from .pool import VALUE, Pool, wait_until

pytestmark = pytest.mark.slow


@pytest.fixture
def repo(pool: Pool, server: ScriptedServer) -> Audited:
    return Audited(pool, server)


def test_a_screen_removes_what_it_solves_and_touches_nothing_of_the_loop(repo: Audited) -> None:
    repo.configure(SCREENS, SOLVERS)
    for name in ("one", "two", "three"):
        repo.pool.add(name)
    repo.pool.add("broken", 'print("ANSWER: 5")\n')
    repo.pool.run()
    before, items = repo.in_loop(), {path: path.read_bytes() for path in repo.pool.root.glob("accepted/*")}
    assert repo.pool.accepted() == ["one", "three", "two"]
    repo.models.known = {"strong-model": {"two"}}
    told = repo.rescreen("--name", "sol", "--screens", "strong", "--seed", "1")
    assert [told[key] for key in ("in", "removed", "out", "no_verdict")] == [3, 1, 2, 0]
    assert told["endings"] == {"rejected at screen: too-easy": 1}
    assert repo.ended("sol") == {
        "one": "provisional screen", "two": "rejected screen too-easy", "three": "provisional screen",
    }  # fmt: skip
    assert repo.in_loop() == before
    assert {path: path.read_bytes() for path in repo.pool.root.glob("accepted/*")} == items
    [run] = repo.pool.rows("SELECT * FROM runs WHERE audit = 'sol'")
    assert (json.loads(run["gates"]), run["seed"]) == (["screen"], 1)
    assert [screen["name"] for screen in json.loads(run["settings"])["screens"]] == ["strong"]
    assert repo.table("sol") == [
        ["local verification", 4, 1, 3, 0],
        ["sol", 3, 1, 2, 0],
        ["exact deduplication", 2, 0, 2, 0],
    ]


def test_a_solver_removes_what_it_does_not_solve(repo: Audited) -> None:
    repo.configure(SCREENS, SOLVERS)
    repo.loop("one", "two", "three")
    repo.models.unsolved = {"slow-model": {"one"}}
    told = repo.rescreen("--name", "tool", "--solvers", "slow")
    assert told["endings"] == {"review at solve: no-answer": 1}
    assert set(repo.asked()) == {"slow-model"}
    assert repo.table("tool")[1] == ["tool", 3, 1, 2, 0]
    # With both, either removes; the solver is not asked about what the screens have removed.
    repo.models.known = {"light-model": {"two"}}
    repo.rescreen("--name", "both", "--screens", "light", "--solvers", "slow")
    assert repo.ended("both") == {
        "one": "review solve no-answer", "two": "rejected screen too-easy", "three": "provisional solve",
    }  # fmt: skip
    assert repo.table("both")[1] == ["both", 3, 2, 1, 0]


def test_audits_make_a_chain(repo: Audited) -> None:
    """Each asks only about what the one before has passed; the files are not needed any more."""
    repo.configure(SCREENS, SOLVERS)
    names = ["one", "two", "three", "four"]
    repo.loop(*names)
    for name in names:
        (repo.pool.root / "candidates" / f"{name}.yaml").unlink()
    repo.models.known = {"light-model": {"one"}, "strong-model": {"one", "two"}}
    repo.models.unsolved = {"quick-model": {"three"}}
    repo.rescreen("--name", "a", "--screens", "light")
    assert repo.rescreen("--name", "b", "--screens", "strong", "--pool", "audit:a")["in"] == 3
    assert repo.rescreen("--name", "c", "--solvers", "quick", "--pool", "audit:b")["in"] == 2
    assert repo.asked().count("strong-model") == 3
    assert repo.table("a", "b", "c") == [
        ["local verification", 4, 0, 4, 0],
        ["a", 4, 1, 3, 0],
        ["b", 3, 1, 2, 0],
        ["c", 2, 1, 1, 0],
        ["exact deduplication", 1, 0, 1, 0],
    ]
    text = repo.toolgate("report", "--pool", "--audits", "a,b,c")
    assert text.stdout.splitlines()[1] == "local verification  |  4 |       0 |   4 |          0"
    items = json.loads(repo.toolgate("report", "--pool", "--audits", "a,b,c", "--json").stdout)
    assert [item["id"] for item in items["pool"]] == ["four"]
    assert [item["id"] for item in items["stages"][2]["removed_items"]] == ["two"]
    # What an audit was not asked about has no verdict there, which is not the same as having passed.
    assert repo.table("c", code=1)[1] == ["c", 4, 1, 1, 2]


def test_all_screens_are_asked(repo: Audited) -> None:
    repo.configure(SCREENS)
    repo.loop("one")
    repo.models.known = {"light-model": {"one"}}
    repo.rescreen("--name", "all", "--screens", "light,strong")
    assert repo.asked() == ["light-model", "light-model", "strong-model"]


def test_what_is_recorded_is_not_asked_again(repo: Audited) -> None:
    repo.configure(SCREENS, SOLVERS)
    for name in ("one", "two"):
        repo.pool.add(name)
    repo.pool.run()
    repo.server.forget()
    told = repo.rescreen("--name", "again", "--screens", "light,strong", "--solvers", "quick")
    assert (told["out"], repo.server.count) == (2, 0)
    assert {row["reused"] for row in repo.pool.rows("SELECT reused FROM outcomes ORDER BY time DESC LIMIT 2")} == {5}
    repo.rescreen("--name", "shuffled", "--screens", "strong", "--seed", "7")
    assert repo.server.count == 2


def test_the_accepted_alone(repo: Audited) -> None:
    repo.configure(SCREENS, SOLVERS)
    for name in ("one", "two"):
        repo.pool.add(name)
    repo.models.unsolved = {"quick-model": {"one"}}
    repo.pool.run()
    assert repo.pool.accepted() == ["two"]
    assert repo.rescreen("--name", "x", "--screens", "strong", "--pool", "accepted")["in"] == 1
    assert list(repo.ended("x")) == ["two"]


def test_no_verdict_is_tried_again_under_the_same_name(repo: Audited) -> None:
    repo.configure(SCREENS)
    repo.loop("one", "two", "three")
    repo.models.known = {"strong-model": {"one"}}
    repo.rescreen("--name", "a", "--screens", "light")
    repo.models.broken = {"strong-model"}
    told = repo.rescreen("--name", "b", "--screens", "strong", code=1)
    assert [told[key] for key in ("in", "removed", "out", "no_verdict")] == [3, 0, 0, 3]
    assert repo.table("a", "b", code=1)[1:] == [
        ["a", 3, 0, 3, 0], ["b", 3, 0, 0, 3], ["exact deduplication", 0, 0, 0, 0],
    ]  # fmt: skip
    said = repo.toolgate("report", "--pool", "--audits", "a,b").stdout
    assert "b: 3 without verdict, and so neither removed nor passed on" in said
    repo.models.broken = set()
    told = repo.rescreen("--name", "b", "--screens", "strong")
    assert [told[key] for key in ("in", "removed", "out", "no_verdict", "earlier")] == [3, 1, 2, 0, 0]
    # And then there is nothing left to do.
    runs = repo.pool.rows("SELECT id FROM runs")
    assert repo.rescreen("--name", "b", "--screens", "strong")["earlier"] == 3
    assert repo.pool.rows("SELECT id FROM runs") == runs


class Held:
    """Models of which one holds its words back for one question."""

    def __init__(self, repo: Audited, name: str) -> None:
        self.repo = repo
        self.name = name
        self.go = threading.Event()
        self.waiting = threading.Event()

    def __call__(self, asked: Asked) -> Reply:
        if self.name in asked.prompt:
            self.waiting.set()
            self.go.wait(60)
        return self.repo.models(asked)


def _names(count: int) -> list[str]:
    return [f"item{number:02}" for number in range(count)]


@pytest.mark.slow
@pytest.mark.parametrize("user", [("--screens", "light"), ("--solvers", "quick")], ids=["screen", "solver"])
def test_killed_at_any_time_the_next_run_takes_up_the_rest(repo: Audited, user: tuple[str, str]) -> None:
    repo.configure(SCREENS, SOLVERS)
    names = _names(6)
    repo.loop(*names)
    before = repo.in_loop()
    held = repo.server.script = Held(repo, names[3])
    with repo.started("rescreen", "--name", "a", *user) as run:
        wait_until(held.waiting.is_set)
        wait_until(lambda: len(repo.ended("a")) == 5)
        run.kill_group()
    paid = repo.server.count
    held.go.set()
    repo.server.script = repo.models
    told = repo.rescreen("--name", "a", *user)
    assert [told[key] for key in ("in", "out", "no_verdict", "earlier")] == [6, 6, 0, 5]
    assert repo.server.count - paid <= 3
    assert all(names[3] in asked.prompt for asked in repo.server.requests[paid:])
    [first, second] = repo.pool.rows("SELECT kind FROM run_events JOIN runs ON runs.id = run_id WHERE audit = 'a'")
    assert (first["kind"], second["kind"]) == ("killed", "closed")
    assert {**repo.in_loop(), "run_events": []} == {**before, "run_events": []}


@pytest.mark.slow
def test_ctrl_c_finishes_what_is_in_hand(repo: Audited) -> None:
    repo.configure(SCREENS)
    names = _names(20)
    repo.loop(*names)
    held = repo.server.script = Held(repo, "item")
    with repo.started("rescreen", "--name", "a", "--screens", "strong") as run:
        wait_until(held.waiting.is_set)
        run.signal_group(signal.SIGINT)
        wait_until(lambda: b"interrupted: the candidates in hand" in run.output.read_bytes())
        held.go.set()
        assert run.wait() == 1
    assert 1 <= len(repo.ended("a")) < 20
    assert "stopped: it was interrupted" in run.output.read_text("utf-8")
    assert repo.pool.rows("SELECT kind FROM run_events ORDER BY time DESC LIMIT 1") == [{"kind": "closed"}]
    repo.server.script = repo.models
    assert repo.rescreen("--name", "a", "--screens", "strong")["out"] == 20


@pytest.mark.slow
def test_terminated_it_ends_at_once(repo: Audited) -> None:
    repo.configure(SCREENS)
    repo.loop("one")
    held = repo.server.script = Held(repo, "one")
    with repo.started("rescreen", "--name", "a", "--screens", "strong") as run:
        wait_until(held.waiting.is_set)
        run.signal_group(signal.SIGTERM)
        assert run.wait() == 1
    held.go.set()
    said = run.output.read_text("utf-8")
    assert "stopped: it was ended" in said
    assert "Traceback" not in said
    assert repo.ended("a") == {}
    repo.server.script = repo.models
    assert repo.rescreen("--name", "a", "--screens", "strong")["out"] == 1


def test_only_one_at_a_time_works_on_an_audit(repo: Audited) -> None:
    repo.configure(SCREENS)
    repo.loop("one")
    held = repo.server.script = Held(repo, "one")
    with repo.started("rescreen", "--name", "a", "--screens", "strong") as run:
        wait_until(held.waiting.is_set)
        other = repo.toolgate("rescreen", "--name", "a", "--screens", "strong")
        assert (other.returncode, other.stdout) == (2, "")
        assert other.stderr.startswith("toolgate: another `toolgate rescreen` is at work on `a` in ")
        held.go.set()
        assert run.wait() == 0


def test_a_budget_ends_an_audit_that_goes_on_with_another(repo: Audited) -> None:
    """A call costs 0.11 USD by the counts of the server, and so does the preflight of each run."""
    repo.configure(SCREENS, "budget: {usd: 0.5}\n")
    text = (repo.pool.root / "toolgate.yaml").read_text("utf-8")
    free = ", ".join(f"{name}-model: {{input: 0, output: 0}}" for name in ("light", "cue"))
    prices = f"prices: {{{free}, strong-model: {{input: 1000, output: 1000}}}}"
    repo.pool.write("toolgate.yaml", text.replace("retries:", f"{prices}, retries:"))
    repo.loop(*_names(8))
    told = repo.rescreen("--name", "a", "--screens", "strong", code=1)
    assert 0.3 < told["usd"] <= 0.55
    assert 2 <= told["out"] < 5
    assert len(told["errors"]) == told["no_verdict"]
    assert all("spent its budget of 0.5 USD" in sentence for sentence in told["errors"])
    told = repo.rescreen("--name", "a", "--screens", "strong")
    assert (told["out"], told["stopped"]) == (8, "")


REFUSED = {
    "nothing named": (("--name", "a"), "an audit needs a screen or a solver: name some with --screens or --solvers"),
    "no such screen": (
        ("--name", "a", "--screens", "ligth"), "the configuration has no screen `ligth`; it has `light`, `strong`",
    ),
    "no such solver": (("--name", "a", "--solvers", "x"), "the configuration has no solver `x`; it has none"),
    "cues alone": (("--name", "a", "--screens", "cue"), "cue screens give no verdict"),
    "no name": (("--name", "a,b", "--screens", "light"), "an audit's name has 1 to 60 letters, digits"),
    "no such pool": (("--name", "a", "--screens", "light", "--pool", "all"), "`all` is not a pool: give verified"),
    "no such audit": (
        ("--name", "a", "--screens", "light", "--pool", "audit:x"), "holds no audit `x`; it holds `known`",
    ),
    "none accepted": (("--name", "a", "--screens", "light", "--pool", "accepted"), "holds no candidate"),
    "other settings": (
        ("--name", "known", "--screens", "light", "--seed", "3"),
        "the audit `known` was begun with another seed and other screens: give this one another name",
    ),
    "no database": (("--name", "a", "--screens", "light", "--db", "x.db"), "there is no database x.db"),
}  # fmt: skip


@pytest.mark.slow
def test_what_makes_no_sense_is_one_sentence(repo: Audited) -> None:
    repo.configure(SCREENS)
    repo.loop("one")
    repo.rescreen("--name", "known", "--screens", "strong")
    runs = repo.pool.rows("SELECT id FROM runs")
    for case, (arguments, sentence) in REFUSED.items():
        done = repo.toolgate("rescreen", *arguments)
        assert (done.returncode, done.stdout) == (2, ""), case
        assert done.stderr.startswith("toolgate: "), case
        assert sentence in done.stderr, case
        assert done.stderr.count("\n") == 1, case
    assert repo.pool.rows("SELECT id FROM runs") == runs
    assert not list(repo.pool.temporary.glob("toolgate-run-*"))
    for arguments, sentence in (
        (("report", "--pool", "--similarity", "0.5"), "there is neither --html nor --similarity"),
        (("report", "--pool", "--audits", "known,x"), "holds no audit `x`; it holds `known`"),
    ):
        done = repo.toolgate(*arguments)
        assert done.returncode == 2
        assert sentence in done.stderr


def test_an_audit_asks_about_what_was_recorded_not_about_the_file(repo: Audited) -> None:
    repo.configure(SCREENS)
    repo.loop("one")
    repo.pool.add("one", question="What else?")
    repo.rescreen("--name", "a", "--screens", "strong")
    assert "What is the value of one?" in repo.server.requests[0].prompt
    assert VALUE in repo.server.requests[0].options.values()
