"""The card of a release: what it is, how it was made, what it does not say. No stranger's text comes into it bare."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ..gates.result import escaped
from .items import Item, Release
from .rows import COLUMNS, Kind, Struct

_MOST: Final = 200
_ROWS: Final = 30


def card(release: Release, files: Mapping[str, str]) -> str:
    """`README.md`, with the front matter that Hugging Face reads.

    Args:
        release: What is released.
        files: Split -> its data file, relative to the card.
    """
    return "\n".join([*_front_matter(release, files), *_body(release, files), ""])


def _front_matter(release: Release, files: Mapping[str, str]) -> Iterator[str]:
    """Names, dates and identifiers only, which are checked."""
    yield "---"
    yield f'license: "{release.licence.lower()}"'
    yield f'pretty_name: "{release.name}"'
    yield from ("task_categories:", "- multiple-choice", "tags:", "- benchmark", "- toolgate", "configs:")
    yield from ("- config_name: default", "  data_files:")
    for split, path in files.items():
        yield from (f"  - split: {split}", f"    path: {path}")
    # A reader that guesses from the first rows takes a column that is null in them for one without a type.
    yield from ("dataset_info:", "  config_name: default", "  features:")
    for name, kind in COLUMNS.items():
        yield from (f"  {line}" for line in _feature(name, kind))
    yield "---"


def _feature(name: str, kind: Kind) -> Iterator[str]:
    """A column as Hugging Face writes it in YAML."""
    yield f"- name: {name}"
    if isinstance(kind, Struct):
        yield f"  {'list' if kind.many else 'struct'}:"
        for part, of_part in kind.parts.items():
            yield from (f"  {line}" for line in _feature(part, of_part))
    else:
        yield "  list: string" if kind == "strings" else f"  dtype: {kind}"


def _body(release: Release, files: Mapping[str, str]) -> Iterator[str]:
    yield f"\n# {release.name}\n"
    yield (
        f"{_count(release.items, 'multiple-choice question')} with four options each, for which scientific software is "
        f"meant to be needed. Released on {release.date} from {release.pool}, made with "
        f"[pytest-toolgate](https://pypi.org/project/pytest-toolgate/). Licence: {release.licence}."
    )
    yield f"\n## Canary\n\n`{release.canary_line}`\n"
    yield (
        "Every file of data holds this GUID. Leave out of a training corpus whatever holds it. Who finds that a model "
        "can continue the line above knows that it was trained on a copy of this release."
    )
    yield from ("\n## Splits\n", "| split | rows | file |", "|---|---|---|")
    counts = {"test": len(release.items), "rejected": len(release.rejected)}
    yield from (f"| `{split}` | {counts.get(split, 0)} | `{path}` |" for split, path in files.items())
    yield (
        "\n`test` holds the items. `rejected` holds the attempts that led to none: those that a gate has rejected, and "
        "those that no solver has solved (`outcome` is `review`), with gate, reason and sentence. Attempts that ended "
        "by an error of machinery say nothing of a candidate and are not released."
    )
    yield from _meaning(release)
    yield from _making(release)
    yield from _limits(release)


def _meaning(release: Release) -> Iterator[str]:
    yield "\n## What an answer is\n"
    yield (
        "An answer is **reproduced**: the script of the item ran in a sandbox, without being told the answer, and what "
        "it printed stands for that option. `reproduced` holds the evidence: each run, what it printed, and the "
        "versions of the software. Nothing follows from that about whether script and question mean the same."
    )
    reviewed = [item for item in release.items if item.reviews]
    verdicts = Counter(review.verdict for item in reviewed for review in item.reviews)
    told = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
    yield (
        "\nWhat experts have said stands in `review` and nowhere else: the last word of each, `sound`, `defect` or "
        f"`unsure`. Items with a review: {len(reviewed)} of {len(release.items)}{f' ({told})' if told else ''}; of the "
        "others it is null."
    )
    yield (
        "\nOptions stand in an order drawn anew for this release, with a seed that no model was screened with. "
        "`presentation` holds the author's own letters of the options shown as A, B, C, D; records speak of the "
        "author's."
    )


def _making(release: Release) -> Iterator[str]:
    made = release.made
    yield "\n## How it was made\n"
    yield "Passing is relative to these models, settings and versions:\n"
    for name, found in (
        ("screen without tools", [text.removeprefix("screen ") for text in made.screens]),
        ("solver with tools", [text.removeprefix("solver ") for text in made.solvers]),
    ):
        yield from (f"- {name}: {quoted(text)}" for text in found[:_ROWS])
        yield from [] if found else [f"- {name}: none"]
    yield f"- pytest-toolgate: {', '.join(map(quoted, made.toolgate)) or 'unknown'}"
    yield f"- Python: {', '.join(map(quoted, made.pythons)) or 'unknown'}"
    yield from (f"- {quoted(name)}: {', '.join(map(quoted, found))}" for name, found in made.packages.items())
    domains = Counter(item.domain for item in release.items)
    yield f"- domains: {', '.join(f'{quoted(name)} ({count})' for name, count in sorted(domains.items()))}"
    for reason, count in release.left_out.items():
        yield f"- left out of the pool: {count}, since {reason}"


def _limits(release: Release) -> Iterator[str]:
    letters = Counter(item.answer for item in release.items)
    yield "\n## Limits\n"
    yield "- Four options leave a floor of 25 % for guessing."
    shares = ", ".join(f"{letter} {letters[letter]}" for letter in "ABCD")
    yield f"- Answers by letter: {shares}."
    yield "- A screen is one direct call and a solver works in turns, so what lies between them is not tools alone."
    yield "- Other versions of the software, other models and other settings can come to other answers."


def quoted(text: str) -> str:
    """A stranger's text in Markdown: code of one line, bounded, in which nothing means anything."""
    line = " ".join(escaped(text).replace("`", "'").split())
    return f"`{line if len(line) <= _MOST else f'{line[: _MOST - 3]}...'}`"


def _count(things: Sequence[Item], name: str) -> str:
    return f"{len(things)} {name}{'' if len(things) == 1 else 's'}"
