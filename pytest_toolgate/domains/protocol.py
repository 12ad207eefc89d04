"""What a domain is."""

from dataclasses import dataclass


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
        notes: What an expert would tell a newcomer about this installation, for agents.
    """

    name: str
    title: str
    packages: tuple[str, ...]
    distributions: tuple[str, ...]
    stand_ins: tuple[str, ...] = ()
    notes: str = ""
