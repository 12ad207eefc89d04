"""The examples by experts that a prompt shows, and the accepted items that a new candidate must not repeat."""

import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from ..candidate import Candidate, CandidateError, read_candidate
from ..domains import Domain, domain_names
from ..file_names import SUFFIXES
from ..store.accepted import read_entries
from .newcomers import Member

OWN_SEEDS: Final = Path("seeds")
"""Where a repository has seeds of its own."""


class SeedError(Exception):
    """Seeds that cannot be used, as one sentence."""


def read_seeds(domain: Domain, own: Path) -> tuple[Candidate, ...]:
    """The seeds of a domain: those of the repository where it has any for it, else those that the domain brings.

    Args:
        domain: The target software.
        own: Where the repository's would be.

    Raises:
        SeedError: A seed is no candidate.
    """
    for folder in (own, domain.seeds):
        if folder is not None and folder.is_dir():
            files = sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES and path.is_file())
            found = [seed for path in files if (seed := _seed(path, domain)).domain == domain.name]
            if found:
                return tuple(found)
    return ()


def _seed(path: Path, domain: Domain) -> Candidate:
    try:
        return read_candidate(path, domains=domain_names(), default_domain=domain.name)
    except (CandidateError, OSError) as problem:
        raise SeedError(f"the seed {path} cannot be used: {problem}") from None


def accepted_members(directory: Path, domain: str, rounds: Collection[str]) -> Iterator[Member]:
    """The accepted items of a domain that are not known by their rounds; a file of another making is passed over.

    Args:
        directory: Of accepted items.
        domain: Name of the domain.
        rounds: Fingerprints of the candidates that rounds have come to.
    """
    for entry in read_entries(directory):
        if entry.fingerprint in rounds:
            continue
        try:
            item = json.loads((directory / f"{entry.id}.json").read_text("utf-8"))["item"]
            candidate = Candidate(**{**item, "tags": tuple(item["tags"])}, path=Path(entry.path))
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if candidate.domain == domain:
            yield Member(f"the accepted item `{entry.id}`", candidate, kept=True)
