"""From a document to a `Candidate`: which keys there are and what each may hold."""

import difflib
import re
import stat
from collections.abc import Collection, Mapping
from pathlib import Path

from .document import Node, decode, read_bytes, read_document
from .faults import CandidateError, Fault
from .model import LETTERS, Candidate

KEYS = (
    "id",
    "domain",
    "tags",
    "question",
    "options",
    "answer",
    "distractors",
    "solution",
    "solution_file",
    "metadata",
)
# A file of nonsense has a fault in every line; nobody reads more than these.
MAX_FAULTS = 20
_ID = re.compile(r"[a-z0-9_-]{1,100}")


def read_candidate(path: Path, *, domains: Collection[str], default_domain: str | None = None) -> Candidate:
    """Read one candidate file.

    Args:
        path: The file; `.json` is read as JSON, anything else as YAML.
        domains: Names of the known domains.
        default_domain: Domain of a file that names none.

    Raises:
        CandidateError: The file is not a candidate; all faults of form that were found.
        OSError: The file cannot be read.
    """
    root = read_document(decode(read_bytes(path)), is_json=path.suffix == ".json")
    if not isinstance(root.value, dict):
        raise CandidateError(Fault("bad-schema", "the file is not one mapping of keys to values", root.line))
    return _Reader(path, root.value).candidate(domains, default_domain)


class _Reader:
    """Reads the fields of one mapping and gathers every fault on the way."""

    def __init__(self, path: Path, entries: Mapping[str, Node]) -> None:
        self.path = path
        self.entries = {key: node for key, node in entries.items() if node.value is not None}
        self.lines = {key: node.line for key, node in entries.items()}
        self.faults: list[Fault] = []

    def candidate(self, domains: Collection[str], default_domain: str | None) -> Candidate:
        self.unknown_keys()
        options = self.options()
        answer = self.answer(options)
        candidate = Candidate(
            id=self.id(),
            question=self.text("question"),
            options=options,
            answer=answer,
            solution=self.solution(),
            domain=self.domain(domains, default_domain),
            path=self.path,
            tags=self.tags(),
            distractors=self.distractors(answer),
            metadata=self.metadata(),
            lines=self.lines,
        )
        if self.faults:
            raise CandidateError(*self.faults[:MAX_FAULTS])
        return candidate

    def blame(self, reason: str, sentence: str, field: str = "", line: int | None = None) -> None:
        self.faults.append(Fault(reason, sentence, line or self.lines.get(field.split(".")[0]), field))

    def unknown_keys(self) -> None:
        unknown = [key for key in self.lines if key not in KEYS]
        for key, line in ((key, self.lines[key]) for key in unknown[:MAX_FAULTS]):
            near = difflib.get_close_matches(key[:60], KEYS, n=1, cutoff=0.0)
            self.blame(
                "bad-schema",
                f"unknown key `{key[:60]}`; the nearest known one is `{near[0]}`",
                key[:60],
                line,
            )

    def text(self, key: str, *, required: bool = True) -> str:
        node = self.entries.get(key)
        if node is None:
            if required:
                self.blame("bad-schema", f"the required key `{key}` is missing", key)
            return ""
        if not isinstance(node.value, str):
            self.blame("bad-schema", f"`{key}` must be text", key)
            return ""
        if not node.value.strip():
            self.blame("bad-schema", f"`{key}` is empty", key)
        return node.value

    def id(self) -> str:
        given = "id" in self.entries
        name = self.text("id", required=False) if given else self.path.stem
        if name and not _ID.fullmatch(name):
            source = "`id`" if given else "no `id` is given, and the file name"
            self.blame(
                "bad-schema",
                f"{source} `{name[:60]}` is not of the form [a-z0-9_-]+ (100 characters at most)",
                "id",
            )
        return name

    def options(self) -> dict[str, str]:
        node = self.entries.get("options")
        if node is None:
            self.blame("bad-schema", "the required key `options` is missing", "options")
            return {}
        if not isinstance(node.value, dict):
            self.blame("bad-options", "`options` must map the letters A, B, C and D to texts", "options")
            return {}
        options: dict[str, str] = {}
        for letter, child in node.value.items():
            field = f"options.{letter[:20]}"
            self.lines[field] = child.line
            if letter not in LETTERS:
                self.blame(
                    "bad-options",
                    f"`{letter[:20]}` is not one of the option letters A, B, C and D",
                    field,
                    child.line,
                )
            elif not isinstance(child.value, str | None):
                self.blame("bad-options", f"option {letter} must be text", field, child.line)
            elif child.value is None or not child.value.strip():
                self.blame("bad-options", f"option {letter} is empty", field, child.line)
            else:
                options[letter] = child.value
        absent = [letter for letter in LETTERS if letter not in node.value]
        if absent:
            self.blame(
                "bad-options",
                f"option {' and '.join(absent)} is missing; there must be exactly A, B, C and D",
                "options",
            )
        return {letter: options[letter] for letter in LETTERS if letter in options}

    def answer(self, options: Mapping[str, str]) -> str:
        node = self.entries.get("answer")
        if node is None:
            self.blame("bad-schema", "the required key `answer` is missing", "answer")
            return ""
        if isinstance(node.value, str) and node.value in LETTERS:
            return node.value
        hint = ""
        if isinstance(node.value, str):
            meant = [letter for letter, text in options.items() if text.strip() == node.value.strip()]
            meant += [letter for letter in LETTERS if node.value.strip(" ()[].").upper() == letter]
            hint = f"; write `answer: {meant[0]}`" if meant else ""
        shown = f" `{node.value[:40]}`" if isinstance(node.value, str) else ""
        self.blame("bad-answer", f"the answer{shown} is not one of the letters A, B, C and D{hint}", "answer")
        return ""

    def domain(self, domains: Collection[str], default: str | None) -> str:
        name = self.text("domain", required=False) if "domain" in self.entries else default
        known = ", ".join(f"`{name}`" for name in sorted(domains))
        if name is None:
            self.blame(
                "bad-schema",
                f"no `domain` is given and the configuration sets none; known are {known}",
                "domain",
            )
        elif name and name not in domains:
            self.blame("bad-schema", f"unknown domain `{name[:60]}`; known are {known}", "domain")
        return name or ""

    def tags(self) -> tuple[str, ...]:
        node = self.entries.get("tags")
        if node is None:
            return ()
        if isinstance(node.value, list):
            tags = [child.value for child in node.value if isinstance(child.value, str)]
            if len(tags) == len(node.value):
                return tuple(tags)
        self.blame("bad-schema", "`tags` must be a list of texts", "tags")
        return ()

    def distractors(self, answer: str) -> dict[str, str]:
        node = self.entries.get("distractors")
        if node is None:
            return {}
        if not isinstance(node.value, dict):
            self.blame(
                "bad-schema",
                "`distractors` must map wrong option letters to the mistakes they come from",
                "distractors",
            )
            return {}
        mistakes: dict[str, str] = {}
        for letter, child in node.value.items():
            field = f"distractors.{letter[:20]}"
            if letter not in LETTERS or letter == answer:
                which = "the answer itself" if letter == answer else "no option"
                self.blame("bad-schema", f"`distractors` names `{letter[:20]}`, which is {which}", field, child.line)
            elif not isinstance(child.value, str):
                self.blame("bad-schema", f"the mistake behind option {letter} must be text", field, child.line)
            else:
                mistakes[letter] = child.value
        return mistakes

    def metadata(self) -> dict[str, object]:
        node = self.entries.get("metadata")
        if node is None:
            return {}
        if not isinstance(node.value, dict):
            self.blame("bad-schema", "`metadata` must be a mapping", "metadata")
            return {}
        return {key: child.plain() for key, child in node.value.items()}

    def solution(self) -> str:
        given = [key for key in ("solution", "solution_file") if key in self.entries]
        if len(given) != 1:
            sentence = (
                "give either" if given else "the required key `solution` (or `solution_file`) is missing; give either"
            )
            self.blame(
                "bad-schema",
                f"{sentence} the script as `solution` or its path as `solution_file`",
                "solution",
            )
            return ""
        text = self.text(given[0])
        return text if given[0] == "solution" or not text else self.solution_file(text)

    def solution_file(self, name: str) -> str:
        def refuse(sentence: str) -> str:
            self.blame("bad-schema", f"`solution_file` `{name[:80]}` {sentence}", "solution_file")
            return ""

        folder = self.path.parent.resolve()
        if Path(name).is_absolute() or ".." in Path(name).parts:
            return refuse("must be a path beside the candidate, without `..`")
        try:
            target = (folder / name).resolve(strict=True)
            mode = target.stat().st_mode
        except (OSError, RuntimeError, ValueError):
            return refuse("does not exist beside the candidate")
        if not target.is_relative_to(folder):
            return refuse("is a link out of the candidate's folder")
        if not stat.S_ISREG(mode):
            return refuse("is not a regular file")
        try:
            script = decode(read_bytes(target))
        except CandidateError as error:
            return refuse(f"cannot be used: {error.faults[0].sentence}")
        return script if script.strip() else refuse("is empty")
