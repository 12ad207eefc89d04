"""`toolgate generate`: what a round is, what is recorded of it, and what the next one is told."""

import json
import re

import pytest
from scripted_server import Reply, ScriptedServer, avoiding, by_question, choosing, computing, saying

from .pool import VALUE, Pool
from .workshop import GATES, Workshop, block, candidate


@pytest.fixture
def shop(pool: Pool, server: ScriptedServer) -> Workshop:
    return Workshop(pool, server)


def test_what_every_gate_passes_is_accepted_with_its_whole_record(shop: Workshop) -> None:
    shop.configure(GATES)
    models = shop.play(block(candidate(1)))
    done = shop.generate("--rounds", 1)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0] == "round 1: accepted"
    assert shop.rounds() == ["accepted"]
    [item] = shop.accepted()
    document = json.loads(item.read_text("utf-8"))
    assert item.stem == document["item"]["id"] == "scipy-0001"
    assert {gate["gate"] for gate in document["record"]["gates"]} == {"lint", "verify", "screen", "solve"}
    assert len(document["record"]["replies"]) == 1
    assert document["record"]["generator"]["prompt"] == models.told[0]
    [left] = document["record"]["generator"]["proposals"]
    assert json.loads(left["file"]) == candidate(1)
    assert left["settings"]["model"] == "generator-model"
    # What the generator was told is kept word for word, and so is what it left.
    [begun] = shop.pool.rows("SELECT * FROM rounds")
    assert models.told == [begun["prompt"]]
    [proposal] = shop.pool.rows("SELECT * FROM proposals")
    assert proposal["round_id"] == begun["id"]
    assert proposal["ended"] == "candidate"
    assert json.loads(proposal["content"]) == shop.file(1) == candidate(1)
    [attempt] = shop.pool.rows("SELECT * FROM attempts")
    assert attempt["round_id"] == begun["id"]
    assert shop.pool.rows("SELECT kind FROM run_events") == [{"kind": "closed"}]


def test_what_a_gate_rejects_is_an_attempt_and_told_to_the_next(shop: Workshop) -> None:
    shop.configure(GATES)
    models = shop.play(
        block(candidate(1, solution='import scipy\nprint("ANSWER: 5")\n')),
        block(candidate(2)),
        block(candidate(3)),
        "```yaml\nquestion: only\n```",
        block(candidate(5)),
    )
    models.screen = by_question({str(candidate(2)["question"]): choosing(VALUE)}, avoiding(VALUE))
    models.agent = by_question({str(candidate(3)["question"]): saying("I give up.")}, computing(VALUE))
    done = shop.generate("--rounds", 5)
    assert shop.rounds() == [
        "rejected verify mismatch",
        "rejected screen too-easy",
        "review solve no-answer",
        "rejected lint bad-schema",
        "accepted",
    ]
    assert done.code == 0
    assert "1 rejected at screen: too-easy" in done.out
    last = models.told[-1]
    assert "4 rounds:" in last
    assert "Round 1: rejected at verify: mismatch" in last
    assert "Round 2: rejected at screen: too-easy" in last
    assert candidate(2)["question"] in last
    assert "- 1 x verify: mismatch; last: " in last
    assert "too-easy; last" not in last  # which is not of the candidate's own making
    assert [row["known"] for row in shop.pool.rows("SELECT known FROM rounds ORDER BY number")] == [
        "[]", "[1]", "[1, 2]", "[1, 2, 3]", "[1, 2, 3, 4]",
    ]  # fmt: skip


LEFT = {
    "nothing": ("pass", "no-candidate", "the generator left no candidate.yaml"),
    "a link": ("import os; os.symlink('/etc/passwd', 'candidate.yaml')", "no-candidate", "not a regular file"),
    "a pipe": ("import os; os.mkfifo('candidate.yaml')", "no-candidate", "not a regular file"),
    "a folder": ("import os; os.mkdir('candidate.yaml')", "no-candidate", "not a regular file"),
    "a huge file": ("open('candidate.yaml', 'w').write('x' * (2 << 20))", "no-candidate", "larger than 1024 KiB"),
    "no text": ("open('candidate.yaml', 'wb').write(b'\\xff')", "no-candidate", "is not UTF-8 text"),
    "an empty file": ("open('candidate.yaml', 'w')", "bad-yaml", ""),
}


@pytest.mark.slow
@pytest.mark.parametrize(("code", "reason", "sentence"), LEFT.values(), ids=LEFT)
def test_whatever_else_is_left_is_an_attempt_too(shop: Workshop, code: str, reason: str, sentence: str) -> None:
    shop.configure()
    shop.play(f"```python\n{code}\n```", "That is all.")
    done = shop.generate("--rounds", 1)
    assert done.code == 0
    gate = "lint" if reason == "bad-yaml" else "generate"
    assert shop.rounds() == [f"rejected {gate} {reason}"]
    [outcome] = shop.pool.rows("SELECT * FROM outcomes")
    assert sentence in outcome["sentence"]


@pytest.mark.slow
def test_a_script_may_write_the_file(shop: Workshop) -> None:
    shop.configure()
    text = json.dumps(candidate(1))
    shop.play(f"```python\nimport scipy.special\nopen('candidate.yaml', 'w').write({text!r})\n```")
    shop.generate("--rounds", 1)
    assert shop.rounds() == ["provisional"]
    [proposal] = shop.pool.rows("SELECT * FROM proposals")
    assert json.loads(proposal["used"]) == ["scipy"]
    assert proposal["turns"] == 1


@pytest.mark.slow
def test_a_fault_of_a_server_is_no_round(shop: Workshop) -> None:
    shop.configure()
    broken = Reply(status=500, error={"message": "out of order"})
    models = shop.play(broken, broken, block(candidate(2)))
    done = shop.generate("--rounds", 2)
    assert done.code == 1
    assert shop.rounds() == ["open", "open"]
    assert "without verdict, and tried again next time: round 1: provider: the agent's model failed" in done.out
    # The next run takes both up with the prompts that they had.
    again = shop.generate("--rounds", 2)
    assert again.code == 0
    assert shop.rounds() == ["provisional", "rejected lint duplicate"]
    assert models.told[2:] == models.told[:2]
    assert len(shop.pool.rows("SELECT id FROM rounds")) == 2


@pytest.mark.slow
def test_rounds_that_only_fail_end_the_run(shop: Workshop) -> None:
    shop.configure()
    shop.play(Reply(status=500, error={"message": "out of order"}))
    done = shop.generate("--rounds", 50)
    assert done.code == 1
    assert shop.rounds() == ["open"] * 3
    assert "stopped: provider: the agent's model failed" in done.out


def test_a_run_goes_on_where_the_last_one_ended(shop: Workshop) -> None:
    shop.configure()
    models = shop.play(*(block(candidate(seed)) for seed in range(1, 5)))
    assert shop.generate("--rounds", 2).code == 0
    assert shop.generate("--rounds", 2).code == 0
    assert len(models.told) == 2
    done = shop.generate("--rounds", 4, "--json")
    assert len(models.told) == 4
    told = json.loads(done.out)
    assert (told["rounds"], told["kept"], told["endings"]) == (4, 4, {"provisional": 4})


def test_the_prompt_holds_guide_and_seeds(shop: Workshop) -> None:
    shop.configure()
    shop.pool.write("seeds/mine.yaml", json.dumps({**candidate(9), "domain": "scipy"}))
    models = shop.play(block(candidate(1)))
    shop.generate("--rounds", 1)
    [told] = models.told
    assert "# SciPy, for authors of questions" in told
    assert candidate(9)["question"] in told
    assert told.count("```yaml") == 2  # the form, and the one seed


def test_the_prompt_names_the_gates_and_checks_that_judge(shop: Workshop) -> None:
    shop.configure("checks: {solver-convergence: reject}\n")
    models = shop.play(block(candidate(1)))
    shop.generate("--rounds", 1)
    [told] = models.told
    assert re.findall(r"^\d\. (\w+): ", told, re.MULTILINE) == ["lint", "verify", "check"]
    assert "`perturb`, `solver-convergence`.\n" in told


@pytest.mark.slow
def test_where_a_repository_has_no_seeds_the_domain_has(shop: Workshop) -> None:
    shop.configure()
    models = shop.play(block(candidate(1)))
    shop.generate("--rounds", 1)
    assert models.told[0].count("```yaml") == 4
