"""Reading the documentation: its blocks, what is marked, what a console block says happens."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
# Why a block may stand in the documentation without being run: `<!-- not run: reason -->` before it.
REASONS = frozenset(
    {"network", "root", "key", "minutes", "system packages", "other software", "interrupts", "another test"}
)

_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\S*)\s*$")
_COMMENT = re.compile(r"^ *<!-- (?P<name>file|not run): (?P<value>.+?) -->$")
_EXIT_CODE = re.compile(r"\s+# exit code (\d+)$")
# Where a page says its reader is; the same as the fresh directory that its commands run in.
_HERE = "/home/you/bench"
# What differs from run to run without meaning anything: each is replaced on both sides before lines are compared.
_DIFFERS = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00"), "<time>"),
    (re.compile(r"\b\d+(?:\.\d+)?(?:e-\d+)? ?s(?:econds)?\b"), "<duration>"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "<id>"),
    (re.compile(r"\b(toolgate|pytest|pytest-toolgate|[Pp]ython|xdist|timeout)([ -])v?\d+(\.\w+)+"), r"\1\2<version>"),
    (re.compile(r"={3,}"), "==="),
    (re.compile(r"\s+"), " "),
)


@dataclass(frozen=True, slots=True)
class Command:
    """One command of a console block.

    Attributes:
        text: What is typed.
        code: The exit code it ends with: 0, or what the comment `# exit code N` behind it says.
        printed: The lines pasted below it.
    """

    text: str
    code: int
    printed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block.

    Attributes:
        page: Its page.
        line: Line of its fence, counted from 1.
        language: The word behind the fence.
        text: Its content.
        file: The file it is, for the commands that follow; None when it is none.
        not_run: Why it is not run; None when it is.
    """

    page: Path
    line: int
    language: str
    text: str
    file: str | None
    not_run: str | None

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"

    def commands(self) -> Iterator[Command]:
        """The commands of a console block; a command goes on where its line ends with a backslash."""
        lines = self.text.splitlines()
        at = 0
        while at < len(lines):
            assert lines[at].startswith("$ "), f"{self}: `{lines[at]}` is below no command"
            typed = [lines[at][2:]]
            while typed[-1].endswith("\\"):
                at += 1
                typed.append(lines[at])
            at += 1
            printed = []
            while at < len(lines) and not lines[at].startswith("$ "):
                printed.append(lines[at])
                at += 1
            text = "\n".join(typed)
            code = _EXIT_CODE.search(text)
            yield Command(_EXIT_CODE.sub("", text), int(code[1]) if code else 0, tuple(printed))


@dataclass(slots=True)
class Output:
    """Everything that the commands of one page printed, as it is compared.

    Attributes:
        here: The directory they ran in.
        lines: All lines.
    """

    here: Path
    lines: set[str] = field(default_factory=set)

    def add(self, text: str) -> None:
        """Take in what one command printed."""
        self.lines |= set(self._plain(text).splitlines())

    def holds(self, line: str) -> bool:
        """Whether a pasted line was printed: all of it, or its beginning where it ends with `...`."""
        if line.strip() in ("", "..."):
            return True
        wanted = self._plain(line)
        if wanted.endswith("..."):
            return any(real.startswith(wanted.removesuffix("...").rstrip()) for real in self.lines)
        return wanted in self.lines

    def _plain(self, text: str) -> str:
        text = text.replace(str(self.here), _HERE)
        return "\n".join(plain(line) for line in text.splitlines())


def plain(line: str) -> str:
    """A line without what differs from run to run."""
    for pattern, name in _DIFFERS:
        line = pattern.sub(name, line)
    return line.strip()


@cache
def blocks(page: Path) -> tuple[Block, ...]:
    """The fenced blocks of a page, in order."""
    return tuple(_read_blocks(page))


def _read_blocks(page: Path) -> Iterator[Block]:
    lines = iter(enumerate(page.read_text("utf-8").splitlines(), start=1))
    marks: dict[str, str] = {}
    for number, line in lines:
        if comment := _COMMENT.match(line):
            marks[comment["name"]] = comment["value"]
            continue
        fence = _FENCE.match(line)
        if fence:
            content = []
            for _, inner in lines:
                if inner.strip() == "```":
                    break
                content.append(inner.removeprefix(fence["indent"]))
            text = "\n".join(content) + "\n"
            yield Block(page, number, fence["language"], text, marks.get("file"), marks.get("not run"))
        if line.strip():
            marks = {}
