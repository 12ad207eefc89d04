"""What a generator is told: one text, made of the domain's guide and seeds and of what earlier rounds came to. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

import yaml

from ..agents.protocol import PROPOSAL_FILE
from ..candidate import Candidate
from .feedback import Failure, Feedback, Record, Wishes

MOST_BYTES: Final = 100_000
"""Of a whole prompt: it must fit into one argument of a program, which has 128 KiB on Linux."""
_QUESTION: Final = 500  # characters of a record's question
_SENTENCE: Final = 300
_TAG: Final = 40
_TAGS: Final = 5  # of a record

_TASK: Final = """\
Write one new benchmark candidate about {title}: a multiple-choice question that can only be answered by running the
software, with four options, the right answer, and a script that computes it. You may write and run code while you
compose; what you find out by it is no evidence. Your file is judged by programs alone, in this order:

{gates}

The question must say all that fixes its answer: geometry, mesh and diagonal, element and degree, quadrature degree,
boundary conditions, solver and tolerance where they matter, what is asked for and with how many decimals.
"""
_GATES: Final[Mapping[str, str]] = {
    "lint": "its form, as below; it must be no repetition of an earlier candidate.",
    "verify": """\
your script is run twice, on a `problem.json` beside it that holds the question and the options with other
   letters, and no answer. It must end within {time_limit:g} s and print exactly one line `ANSWER: <value>`, whose value
   rounds to your answer's text, whatever the hash seed and the number of threads. It must run {packages}.""",
    "check": """\
your script is run again, watched or changed a little, by these, which warn or reject:
   {checks}.""",
    "screen": "models without any tools get question and options. If they find the answer, the candidate is too easy.",
    "solve": "an agent with the software gets question and options, and must find the answer.",
}
_FORM: Final = """\
The file is YAML with these keys and no others, without anchors, tags or aliases:

```yaml
domain: {domain}
tags: [two-or-three, short-topics]
question: |
  ...
options:            # four texts; numbers with equally many decimals, far enough apart that rounding decides nothing
  A: "0.1234"
  B: "0.2345"
  C: "0.3456"
  D: "0.4567"
answer: {letter}
distractors:        # for each wrong option the realistic mistake in modelling or programming that leads to its value
{distractors}
solution: |         # the whole script; no file beside it is kept
  ...
  print(f"ANSWER: {{value:.4f}}")
```

Compute every distractor by making its mistake; never invent a value.

You are in an empty directory, and `python` there has {title}. There is no network, and nothing can be installed. Write
the file as {file} into that directory. It counts as it stands when you end or your time is over, which is after
{seconds:g} seconds; nothing else counts.
"""


@dataclass(frozen=True, slots=True)
class Setting:
    """What is the same in every round.

    Attributes:
        title: Of the software.
        domain: Name of its domain.
        packages: Of which the script must run one.
        guide: The domain's guide.
        seeds: Examples by experts.
        time_limit: Seconds that a script gets.
        seconds: Those that the generator gets.
        gates: Gates of the run, in order.
        checks: Names of the extra checks after gate verify.
    """

    title: str
    domain: str
    packages: tuple[str, ...]
    guide: str
    seeds: tuple[Candidate, ...]
    time_limit: float
    seconds: float
    gates: tuple[str, ...]
    checks: tuple[str, ...]


def build(setting: Setting, number: int, known: Feedback) -> str:
    """The prompt of a round.

    Args:
        setting: What is the same in every round.
        number: Of the round, from 1; another seed comes first in each.
        known: What earlier rounds came to.

    Returns:
        At most `MOST_BYTES` of UTF-8. What has no room is left out, the oldest records and the last seeds first.
    """
    task = _TASK.format(title=setting.title, gates="\n".join(_gates(setting)))
    wrong = "\n".join(f"  {letter}: ..." for letter in "ABCD" if letter != known.wishes.letter)
    form = _FORM.format(
        letter=known.wishes.letter,
        distractors=wrong,
        title=setting.title,
        domain=setting.domain,
        file=PROPOSAL_FILE,
        seconds=setting.seconds,
    )
    fixed = [task, form, _section("Guide", setting.guide)]
    told = [*_outcomes(known.counts), *_failures(known.failures), *_wishes(known.wishes)]
    seeds = _rotated([_seed(seed) for seed in setting.seeds], number - 1)
    records = [_record(record) for record in known.newest]
    while True:
        parts = [
            *fixed,
            *([_section("Examples by experts", "\n".join(seeds))] if seeds else []),
            *told,
            *([_section("The newest candidates and what came of them", "\n".join(records))] if records else []),
        ]
        prompt = "\n".join(parts)
        if len(prompt.encode("utf-8", "replace")) <= MOST_BYTES:
            return prompt
        if records:
            del records[0]
        elif len(seeds) > 1:
            del seeds[-1]
        else:
            return prompt.encode("utf-8", "replace")[:MOST_BYTES].decode("utf-8", "ignore")


def _gates(setting: Setting) -> Iterator[str]:
    """What judges a candidate: the gates of the run, and after verify the extra checks if there are any."""
    words = {
        "time_limit": setting.time_limit,
        "packages": " or ".join(f"`{name}`" for name in setting.packages),
        "checks": ", ".join(f"`{name}`" for name in setting.checks),
    }
    pairs = ((gate, "check") if gate == "verify" and setting.checks else (gate,) for gate in setting.gates)
    for place, gate in enumerate(chain.from_iterable(pairs), 1):
        yield f"{place}. {gate}: {_GATES[gate].format_map(words)}"


def _section(title: str, text: str) -> str:
    return f"## {title}\n\n{text.strip()}\n"


def _rotated(texts: list[str], by: int) -> list[str]:
    turn = by % len(texts) if texts else 0
    return texts[turn:] + texts[:turn]


def _seed(seed: Candidate) -> str:
    shown = {
        "tags": list(seed.tags),
        "question": seed.question,
        "options": dict(seed.options),
        "answer": seed.answer,
        "distractors": dict(seed.distractors),
        "solution": seed.solution,
    }
    return f"```yaml\n{yaml.dump(shown, Dumper=_Blocks, sort_keys=False, allow_unicode=True, width=1000)}```\n"


class _Blocks(yaml.SafeDumper):
    """Writes texts of several lines as they stand."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Blocks.add_representer(str, _text)


def _outcomes(counts: Mapping[str, int]) -> Iterator[str]:
    if counts:
        lines = "\n".join(f"- {ending}: {times}" for ending, times in counts.items())
        yield _section("Outcomes so far", f"{sum(counts.values())} rounds:\n{lines}")


def _failures(failures: Sequence[Failure]) -> Iterator[str]:
    if not failures:
        return
    lines = []
    for failure in failures:
        lines.append(f"- {failure.times} x {failure.gate}: {failure.reason}; last: {_first(failure.sentence)}")
        if failure.recurs:
            lines.append(
                "  This recurs. Change your approach: another kind of question, and another way to compute it."
            )
    yield _section("Failures to avoid", "\n".join(lines))


def _wishes(wishes: Wishes) -> Iterator[str]:
    lines = [
        f"- Put the right answer at letter {wishes.letter}, and make it the {_ORDINALS[wishes.rank - 1]} of the four "
        "values; choose mistakes whose values lie accordingly.",
    ]
    if wishes.full:
        lines.append(f"- There are enough candidates with these tags, and more are refused: {_tags(wishes.full)}.")
    if wishes.wanted:
        lines.append(f"- Candidates with one of these tags are wanted: {_tags(wishes.wanted)}.")
    if wishes.crowded:
        lines.append("- There are too many like these; anything close to them is refused:")
        lines += [f"  - {_cut(text, _SENTENCE)}" for text in wishes.crowded]
    yield _section("What the pool needs", "\n".join(lines))


_ORDINALS: Final = ("smallest", "second smallest", "second largest", "largest")


def _record(record: Record) -> str:
    lines = [f"Round {record.number}: {record.ending}"]
    if record.sentence and not record.kept:
        lines.append(f"  {_first(record.sentence)}")
    if record.question:
        options = ", ".join(f"{letter} {_cut(text, 60)}" for letter, text in record.options.items())
        lines.append(f"  tags {_tags(record.tags[:_TAGS]) or 'none'}; options {options}; answer {record.answer}")
        lines.append(f"  {_cut(record.question, _QUESTION)}")
    return "\n".join(lines)


def _tags(tags: Sequence[str]) -> str:
    return ", ".join(_cut(tag, _TAG) for tag in tags)


def _first(sentence: str) -> str:
    return _cut(sentence.splitlines()[0] if sentence else "", _SENTENCE)


def _cut(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most]}..."
