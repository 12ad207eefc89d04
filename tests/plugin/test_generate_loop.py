"""`toolgate generate`: killed and taken up again, several rounds at once, caps, Ctrl-C."""

import json
import signal
import threading
import time

import pytest
from exchange import Asked
from scripted_server import Reply, ScriptedServer

from .pool import VALUE, Pool, wait_until
from .workshop import GATES, Models, Workshop, block, candidate

pytestmark = pytest.mark.slow


@pytest.fixture
def shop(pool: Pool, server: ScriptedServer) -> Workshop:
    return Workshop(pool, server)


class Held:
    """Models of which one kind answers only when it is let."""

    def __init__(self, models: Models, kind: str) -> None:
        self.models = models
        self.kind = kind
        self.go = threading.Event()
        self.asked = 0

    def __call__(self, asked: Asked) -> Reply:
        if asked.model == self.kind and not asked.is_preflight:
            self.asked += 1
            self.go.wait(40)
        return self.models(asked)


@pytest.mark.parametrize("kind", ["generator-model", "screen-model", "agent-model"])
def test_killed_at_any_place_it_is_taken_up_and_nothing_is_repeated(shop: Workshop, kind: str) -> None:
    shop.configure(GATES)
    models = shop.play(*(block(candidate(seed)) for seed in range(1, 4)))
    assert shop.generate("--rounds", 1).code == 0
    held = shop.server.script = Held(models, kind)
    with shop.started("--rounds", 3) as run:
        wait_until(lambda: held.asked)
        run.kill_group()
    held.go.set()
    begun = shop.pool.rows("SELECT prompt FROM rounds ORDER BY number")
    after = shop.play(block(candidate(8)), block(candidate(9)))
    shop.server.forget()
    assert shop.generate("--rounds", 3).code == 0
    assert shop.rounds() == ["accepted"] * 3
    asked = [each.model for each in shop.server.requests if not each.is_preflight]
    if kind == "generator-model":
        # Its reply was still to come, and is asked for again with the words that it was asked with before.
        assert begun[1]["prompt"] in after.told
        assert asked.count("generator-model") == asked.count("screen-model") == 2
    else:
        assert shop.file(2) == candidate(2)
        assert asked.count("generator-model") == 1
        assert asked.count("screen-model") == (2 if kind == "screen-model" else 1)
    assert len(shop.pool.rows("SELECT id FROM rounds")) == 3


def test_several_rounds_at_once_know_what_was_over_when_they_began(shop: Workshop) -> None:
    shop.configure()
    models = shop.play(*(block(candidate(seed)) for seed in range(1, 9)))
    lock, under_way, most = threading.Lock(), [0], [0]

    def counted(asked: Asked) -> Reply:
        with lock:
            under_way[0] += 1
            most[0] = max(most[0], under_way[0])
        time.sleep(0.5)
        with lock:
            under_way[0] -= 1
        return models(asked)

    shop.server.script = counted
    assert shop.generate("--rounds", 8, "--parallel", 4).code == 0
    assert most[0] == 4
    assert shop.rounds() == ["provisional"] * 8
    begun = shop.pool.rows("SELECT number, time, known, prompt FROM rounds ORDER BY time, number")
    over = {
        row["number"]: row["time"]
        for row in shop.pool.rows(
            "SELECT number, outcomes.time FROM rounds JOIN attempts ON round_id = rounds.id "
            "JOIN outcomes ON attempt_id = attempts.id"
        )
    }
    assert [row["number"] for row in begun] == list(range(1, 9))
    assert begun[0]["known"] == begun[3]["known"] == "[]"
    for row in begun:
        known = json.loads(row["known"])
        assert known == sorted(known)
        assert all(number < row["number"] and over[number] <= row["time"] for number in known)
        assert all((f"Round {number}:" in row["prompt"]) == (number in known) for number in range(1, 9))
    assert json.loads(begun[-1]["known"])


def test_two_alike_at_once_are_not_both_taken(shop: Workshop) -> None:
    """The second waits until the first has its verdict."""
    shop.configure(GATES)
    first = candidate(1)
    second = candidate(1, question=f"{first['question']} Give it to six decimals.")
    models = shop.play(block(first), block(second))
    held = shop.server.script = Held(models, "screen-model")
    with shop.started("--rounds", 2, "--parallel", 2) as run:
        wait_until(lambda: held.asked == 1 and len(models.told) == 2)
        time.sleep(1)
        assert held.asked == 1
        held.go.set()
        assert run.wait() == 0
    assert sorted(shop.rounds()) == ["accepted", "rejected lint too-similar"]


def test_ctrl_c_finishes_the_round_in_hand(shop: Workshop) -> None:
    shop.configure()
    models = shop.play(*(block(candidate(seed)) for seed in range(1, 9)))
    held = shop.server.script = Held(models, "generator-model")
    with shop.started("--rounds", 8) as run:
        wait_until(lambda: held.asked)
        run.signal_group(signal.SIGINT)
        wait_until(lambda: b"interrupted" in run.output.read_bytes())
        held.go.set()
        assert run.wait() == 1
    assert shop.rounds() == ["provisional"]
    said = run.output.read_text("utf-8")
    assert "stopped: it was interrupted" in said
    assert "Traceback" not in said
    assert shop.pool.rows("SELECT kind FROM run_events") == [{"kind": "closed"}]


@pytest.mark.parametrize("signals", [(signal.SIGINT, signal.SIGINT), (signal.SIGTERM,)], ids=["twice", "terminated"])
def test_twice_ctrl_c_ends_it_at_once(shop: Workshop, signals: tuple[int, ...]) -> None:
    shop.configure()
    models = shop.play(block(candidate(1)))
    held = shop.server.script = Held(models, "generator-model")
    with shop.started("--rounds", 8) as run:
        wait_until(lambda: held.asked)
        for number in signals:
            run.signal_group(number)
            time.sleep(0.5)
        begun = time.monotonic()
        assert run.wait() == 1
        assert time.monotonic() - begun < 15
    held.go.set()
    assert "Traceback" not in run.output.read_text("utf-8")
    shop.server.script = models
    assert shop.generate("--rounds", 1).code == 0
    assert shop.rounds() == ["provisional"]


def test_it_stops_when_its_time_is_over(shop: Workshop) -> None:
    shop.configure()
    models = shop.play(*(block(candidate(seed)) for seed in range(1, 99)))

    def slow(asked: Asked) -> Reply:
        time.sleep(1.0)
        return models(asked)

    shop.server.script = slow
    done = shop.generate("--rounds", 90, "--max-minutes", 0.05)
    assert done.code == 1
    assert "stopped: its time is over" in done.out
    assert 1 <= len(shop.rounds()) < 9
    assert set(shop.rounds()) == {"provisional"}


def test_it_stops_when_its_money_is_spent(shop: Workshop) -> None:
    """A call costs 0.11 USD by the counts of the server, and the preflight as much."""
    shop.configure()
    text = (shop.pool.root / "toolgate.yaml").read_text("utf-8")
    shop.pool.write(
        "toolgate.yaml", text.replace("retries:", "prices: {generator-model: {input: 1000, output: 1000}}, retries:")
    )
    shop.play(*(block(candidate(seed)) for seed in range(1, 99)))
    done = shop.generate("--rounds", 90, "--max-usd", 0.5)
    assert done.code == 1
    assert "stopped: the run has spent its budget of 0.5 USD" in done.out
    assert 3 <= len(shop.rounds()) <= 6
    [paid] = shop.pool.rows("SELECT total(cost) AS usd FROM agent_replies")
    assert 0.3 < paid["usd"] < 0.7
    assert "cost 0." in done.out


def test_only_one_at_a_time_works_on_a_domain(shop: Workshop) -> None:
    shop.configure()
    models = shop.play(block(candidate(1)))
    held = shop.server.script = Held(models, "generator-model")
    with shop.started("--rounds", 1) as run:
        wait_until(lambda: held.asked)
        other = shop.generate("--rounds", 1)
        assert other.code == 2
        assert other.err.startswith("toolgate: another `toolgate generate` is at work on scipy in ")
        held.go.set()
        assert run.wait() == 0


REFUSED = {
    "duplicate": (candidate(1), "lint duplicate", "asks the same question with the same options as round 1"),
    "constants": (
        candidate(
            1, question=f"{candidate(1)['question']} Take 0.75.", options={**candidate(1)["options"], "A": "0.05"}
        ),
        "lint too-similar",
        "of `round 1` (at most 0.7 is allowed)",
    ),
    "unexplained": (candidate(2, distractors={"A": "one"}), "lint no-distractors", "names no mistake for C, D"),
    "full": (candidate(2), "lint quota", "is tagged `special`, of which there is enough"),
    "untagged": (candidate(2, tags=[]), "lint quota", "carries no tag"),
}


@pytest.mark.parametrize(("second", "verdict", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_has_no_place_in_the_pool_is_refused(
    shop: Workshop, second: dict[str, object], verdict: str, sentence: str
) -> None:
    shop.configure(more="quotas: {special: 0.4, mesh: 0.9}")
    shop.play(block(candidate(1)), block(second))
    done = shop.generate("--rounds", 2)
    assert shop.rounds() == ["provisional", f"rejected {verdict}"]
    assert sentence in done.out


def test_variants_of_one_template_are_one_cluster_and_stay_on_record(shop: Workshop) -> None:
    """With a limit of 1 nothing but a repetition is refused."""
    shop.configure(more="max_similarity: 1.0")
    first = candidate(1)
    shop.play(*(block({**first, "question": f"{first['question']} Take {n}."}) for n in range(1, 13)))
    done = shop.generate("--rounds", 12, "--json", "--parallel", 2)
    told = json.loads(done.out)
    assert told["kept"] == 12
    assert told["templates"] == {"clusters": 1, "effective": 1.0, "largest": 1.0}
    assert len(shop.pool.rows("SELECT DISTINCT content FROM candidates")) == 12


def test_a_pool_whose_answers_are_middle_values_warns(shop: Workshop) -> None:
    shop.configure(more="max_similarity: 1.0")
    shop.play(*(block(candidate(seed)) for seed in range(1, 99)))
    done = shop.generate("--rounds", 20, "--parallel", 2)
    assert "kept, in 20 templates" in done.out
    assert "warning: the answer is one of the two middle values in 20 of 20 items" in done.out
    last = shop.pool.rows("SELECT prompt FROM rounds ORDER BY number DESC LIMIT 1")[0]["prompt"]
    assert "Put the right answer at letter" in last
    assert "Put the right answer at letter B" not in last
    assert VALUE in last
