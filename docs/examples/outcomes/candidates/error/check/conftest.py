"""A check with a fault, for the page on outcomes."""

from pytest_toolgate.candidate import Candidate


def pytest_toolgate_check(candidate: Candidate) -> None:
    """Happens to the candidate beside it."""
    raise LookupError("this repository's own check has a fault")
