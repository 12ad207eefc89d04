"""`toolgate generate`: what is left when a run ends anywhere, and what it takes from elsewhere."""

import json
import shutil
import sqlite3
from contextlib import closing

import pytest
from scripted_server import EMPTY, SERVER_ERROR, ScriptedServer, always, avoiding, by_question

from .pool import VALUE, Pool
from .workshop import GATES, Workshop, block, candidate

pytestmark = pytest.mark.slow


@pytest.fixture
def shop(pool: Pool, server: ScriptedServer) -> Workshop:
    return Workshop(pool, server)


def erase(shop: Workshop, *statements: str) -> None:
    """Make the database what a run has left that was killed before."""
    with closing(sqlite3.connect(shop.pool.database)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


# --- ended between two steps ------------------------------------------------------------------------------


def test_an_item_that_was_accepted_and_not_yet_written_is_written_by_the_next_run(shop: Workshop) -> None:
    shop.configure(GATES)
    models = shop.play(block(candidate(1)))
    shop.generate("--rounds", 1)
    [item] = shop.accepted()
    before = item.read_bytes()
    shutil.rmtree(item.parent)
    assert shop.generate("--rounds", 1).code == 0
    assert [path.read_bytes() for path in shop.accepted()] == [before]
    assert len(models.told) == 1


def test_an_item_that_cannot_be_written_ends_the_run_and_is_not_lost(shop: Workshop) -> None:
    shop.configure(GATES)
    shop.play(block(candidate(1)), block(candidate(2)))
    place = shop.pool.write("accepted", "a file")
    done = shop.generate("--rounds", 2)
    assert done.code == 1
    assert "stopped: the accepted item of round 1 cannot be written" in done.out
    again = shop.generate("--rounds", 2)
    assert (again.code, again.err.count("\n")) == (2, 1)
    assert "cannot be written" in again.err
    place.unlink()
    assert shop.generate("--rounds", 2).code == 0
    assert len(shop.accepted()) == 2


def test_a_proposal_that_was_nothing_is_not_asked_for_again(shop: Workshop) -> None:
    shop.configure()
    models = shop.play("I have no idea.")
    shop.generate("--rounds", 1)
    erase(shop, "DELETE FROM outcomes", "DELETE FROM attempts")
    asked = len(models.told)
    assert shop.generate("--rounds", 1).code == 0
    assert len(models.told) == asked
    assert shop.rounds() == ["rejected generate no-candidate"]
    [outcome] = shop.pool.rows("SELECT * FROM outcomes")
    assert "the generator left no candidate.yaml" in outcome["sentence"]


def test_a_proposal_without_a_verdict_is_judged_and_not_asked_for_again(shop: Workshop) -> None:
    shop.configure()
    models = shop.play(block(candidate(1)), block(candidate(2)))
    shop.generate("--rounds", 1)
    erase(shop, "DELETE FROM outcomes")
    assert shop.generate("--rounds", 1).code == 0
    assert (len(models.told), shop.rounds(), shop.file(1)) == (1, ["provisional"], candidate(1))


# --- without verdict --------------------------------------------------------------------------------------


def test_who_repeats_one_without_verdict_does_not_take_its_place_for_both(shop: Workshop) -> None:
    """The first has none, the second has its own; then the first repeats the second."""
    shop.configure(GATES)
    models = shop.play(block(candidate(1)), block(candidate(1)))
    models.screen = always(SERVER_ERROR)
    shop.generate("--rounds", 1)
    assert shop.rounds() == ["open"]
    models.screen = avoiding(VALUE)
    assert shop.generate("--rounds", 2).code == 0
    assert sorted(shop.rounds()) == ["accepted", "rejected lint duplicate"]
    assert len(shop.accepted()) == 1


def test_candidates_that_never_get_a_verdict_keep_no_round_from_being_begun(shop: Workshop) -> None:
    shop.configure(GATES)
    models = shop.play(*(block(candidate(seed)) for seed in range(1, 9)))
    questions = [str(candidate(seed)["question"]) for seed in (1, 2, 3, 4)]
    models.screen = by_question(dict.fromkeys(questions, always(EMPTY)), avoiding(VALUE))
    for _ in range(2):
        assert shop.generate("--rounds", 6).code == 1
        assert shop.rounds() == ["open"] * 4 + ["accepted"] * 2
    done = shop.generate("--rounds", 7)
    assert done.code == 1
    assert shop.rounds()[6] == "accepted"
    assert "4 rounds" not in done.out.splitlines()[0]


def test_a_round_that_is_open_is_not_made_good_by_one_too_many(shop: Workshop) -> None:
    shop.configure(GATES)
    models = shop.play(*(block(candidate(seed)) for seed in range(1, 9)))
    models.screen = by_question({str(candidate(2)["question"]): always(EMPTY)}, avoiding(VALUE))
    assert shop.generate("--rounds", 4).code == 1
    assert shop.generate("--rounds", 3).code == 1


def test_one_candidate_that_has_spent_its_share_does_not_end_the_run(shop: Workshop) -> None:
    """A call costs 0.11 USD by the counts of the server; the generator has one, a screen three."""
    shop.configure(
        GATES.replace("samples: 1", "samples: 3, max_output_tokens: 10"), "budget: {usd_per_candidate: 0.3}\n"
    )
    file = shop.pool.root / "toolgate.yaml"
    models = ", ".join(f"{name}-model: {{input: 1000, output: 1000}}" for name in ("generator", "screen", "agent"))
    file.write_text(file.read_text("utf-8").replace("retries:", f"prices: {{{models}}}, retries:"), "utf-8")
    shop.play(*(block(candidate(seed)) for seed in range(1, 9)))
    done = shop.generate("--rounds", 2)
    assert "the candidate has spent its budget of 0.3 USD" in done.out
    assert shop.rounds() == ["open", "open"]  # the second was begun all the same
    [paid] = shop.pool.rows(
        "SELECT max(usd) AS usd FROM (SELECT total(cost) AS usd FROM "
        "(SELECT cost, round_id FROM replies JOIN attempts ON attempts.id = attempt_id UNION ALL "
        "SELECT cost, attempt_id FROM agent_replies) GROUP BY round_id)"
    )
    assert 0.3 <= paid["usd"] < 0.5  # the calls of generator and gates together


# --- what belongs to what ---------------------------------------------------------------------------------


@pytest.mark.parametrize("configured", ["fenicsx", None])
def test_the_domain_asked_for_is_that_of_its_candidates(shop: Workshop, configured: str | None) -> None:
    shop.configure()
    file = shop.pool.root / "toolgate.yaml"
    line = f"domain: {configured}" if configured else ""
    file.write_text(file.read_text("utf-8").replace("domain: scipy", line), "utf-8")
    models = shop.play(block(candidate(1)))
    assert shop.generate("--domain", "scipy", "--rounds", 1).code == 0
    assert shop.rounds() == ["provisional"]
    assert "domain: scipy\n" in models.told[0]


FOREIGN = {
    "domain": {"domain": "fenicsx"},
    "id": {"id": "mine"},
    "solution_file": {"solution": None, "solution_file": "script.py"},
}


@pytest.mark.parametrize("keys", FOREIGN.values(), ids=FOREIGN)
def test_what_a_proposal_may_not_say(shop: Workshop, keys: dict[str, object]) -> None:
    shop.configure()
    shop.pool.write("generated/script.py", "print('ANSWER: 0.060723')")
    shop.play(block(candidate(1, **keys)))
    shop.generate("--rounds", 1)
    assert shop.rounds() == ["rejected lint bad-schema"]


def test_files_of_another_database_are_not_replaced(shop: Workshop) -> None:
    shop.configure(GATES)
    shop.play(block(candidate(1)), block(candidate(2)))
    shop.generate("--rounds", 1)
    kept = [path.read_bytes() for path in shop.accepted()]
    for more in ((), ("--out", "elsewhere")):
        done = shop.generate("--rounds", 1, "--db", "new.db", *more)
        assert done.code == 2
        assert "exists, and the database knows of no round 1 of scipy" in done.err
    assert [path.read_bytes() for path in shop.accepted()] == kept
    assert shop.generate("--rounds", 1, "--db", "new.db", "--out", "other", "--accepted", "others").code == 0


def test_an_item_that_was_mended_and_accepted_elsewhere_is_in_the_pool(shop: Workshop) -> None:
    shop.configure(GATES)
    first = candidate(1)
    wrong = {**first, "solution": f"{first['solution']}raise SystemExit(3)\n"}
    shop.play(block(wrong), block({**first, "question": f"{first['question']} Take 2."}))
    shop.generate("--rounds", 1)
    assert shop.rounds() == ["rejected verify exit-status"]
    shop.pool.write("generated/scipy-0001.yaml", json.dumps({**first, "domain": "scipy"}))
    assert shop.pool.run("generated/scipy-0001.yaml").verdicts == {"scipy-0001": "accepted solve"}
    shop.generate("--rounds", 2)
    assert shop.rounds()[1] == "rejected lint too-similar"
    assert shop.pool.rows("SELECT sentence FROM outcomes ORDER BY time DESC LIMIT 1")[0]["sentence"].count("scipy-0001")


def test_what_other_domains_have_is_not_counted(shop: Workshop) -> None:
    shop.configure(more="quotas: {special: 0.5}")
    item = {"id": "other", "domain": "fenicsx", "metadata": {}, **candidate(3)}
    document = {"item": item, "twin_key": "t", "fingerprint": "f", "record": {"path": "x.yaml"}}
    shop.pool.write("accepted/other.json", json.dumps(document))
    shop.pool.write("accepted/strange.json", json.dumps({**document, "item": {"id": "strange"}}))
    shop.play(block(candidate(1)))
    done = shop.generate("--rounds", 1, "--json")
    assert json.loads(done.out)["kept"] == 1


WRONG = {
    "out": ("--out", "a-file"),
    "db": ("--db", "a-file/x.db"),
    "domain": ("--domain", "nothing"),
    "config": ("--config", "missing.yaml"),
}


@pytest.mark.parametrize("arguments", WRONG.values(), ids=WRONG)
def test_what_cannot_be_is_said_in_one_line(shop: Workshop, arguments: tuple[str, str]) -> None:
    shop.configure()
    shop.pool.write("a-file", "x")
    shop.play(block(candidate(1)))
    done = shop.generate("--rounds", 1, *arguments)
    assert (done.code, done.err.count("\n"), "Traceback" in done.err) == (2, 1, False), done.err
    assert not list(shop.pool.temporary.glob("toolgate-run-*"))


def test_without_a_generator_the_configuration_is_to_name_one(shop: Workshop) -> None:
    shop.pool.configure("domain: scipy\n")
    done = shop.generate("--rounds", 1)
    assert done.err.startswith("toolgate: the configuration names no generator")


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--rounds", "x", "must be a whole number from 1 to 1000000, not `x`"),
        ("--rounds", "0", "must be a whole number from 1 to 1000000, not `0`"),
        ("--rounds", "9" * 5000, "must be a whole number from 1 to 1000000"),
        ("--max-similarity", "1.5", "must be above 0 and at most 1, not `1.5`"),
        ("--max-usd", "nan", "must be 0 or more, not `nan`"),
        ("--max-minutes", "soon", "must be a number, not `soon`"),
    ],
)
def test_an_option_that_makes_no_sense_is_said_in_words(shop: Workshop, option: str, value: str, words: str) -> None:
    done = shop.generate("--rounds", 1, option, value)
    assert done.code == 2
    assert words in done.err
