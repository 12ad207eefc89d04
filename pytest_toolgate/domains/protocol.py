"""What a domain is."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Domain:
    """A target software.

    Attributes:
        name: Name used in candidate files and in the configuration.
        title: Name for people.
        packages: Top-level packages of the software. A script that runs none of them did not use it, and one of them
            missing is a fault of the environment, not of the script.
        distributions: Installed distributions whose versions are recorded with every run.
        stand_ins: Modules that only some builds ship and that scripts may import for them. Where the interpreter
            lacks one, an empty module stands in.
        preload: Modules that a warm process has imported before a script starts; the packages, where none are named.
        warm_start: Source of a module that runs in it, for software with state that every script must have of its own:
            `load()` is called before any script is there; `ON_IMPORT` maps a module to what it does, once, when a
            script imports it; `end()` is called at a script's end.
        proof: A script that proves the software, run in the sandbox before the first script of a run. Where something
            is missing it ends with another status than 0, and the last line it prints on stderr says what, and what to
            do about it. Without one, importing the packages is the proof.
        notes: What an expert would tell a newcomer about this installation, for agents.
        guide: What the author of a question must know, as text: the software and its API in this version, which
            questions need it run, what must be stated so that the answer is fixed, and which mistakes people make.
        seeds: Folder of candidate files that show what a good question is; None where there are none. Scripts and
            agents never see it.
        python: Interpreter that has the software, where none is configured; None is the one that pytest runs with.
        checks: Names of extra checks that its candidates pass after verification, each an entry point of the group
            `pytest_toolgate.checks`.
    """

    name: str
    title: str
    packages: tuple[str, ...]
    distributions: tuple[str, ...]
    stand_ins: tuple[str, ...] = ()
    preload: tuple[str, ...] = ()
    warm_start: str = ""
    proof: str = ""
    notes: str = ""
    guide: str = ""
    seeds: Path | None = None
    python: Path | None = None
    checks: tuple[str, ...] = ()
