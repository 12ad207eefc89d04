"""Two accidents, for the pages on outcomes: a crashing process and a hook with a fault."""

import os

import pytest


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Happen to the candidates that are named after the accident."""
    if item.name == "interrupted" and "PYTEST_XDIST_WORKER" in os.environ:
        os._exit(1)
    if item.name == "internal":
        raise LookupError("this repository's own hook has a fault")
