"""The hooks that pytest-toolgate adds to pytest's own."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .candidate import Candidate
    from .checks import CheckResult, RunScript
    from .domains import Domain


@pytest.hookspec
def pytest_toolgate_check(candidate: "Candidate", domain: "Domain", run_script: "RunScript") -> "CheckResult | None":
    """Look at a candidate that has passed gate verify, and its extra checks found by entry point.

    Called in the process that judges the candidate, a worker under xdist, possibly in a thread beside others. In a
    `conftest.py` it is called for the candidates below its directory.

    Args:
        candidate: The candidate, with its answer, solution and tags.
        domain: Its domain.
        run_script: Runs a script in the sandbox, see `pytest_toolgate.checks.RunScript`. If the candidate's own script
            fails, the run has no answer, and the candidate is warned of whatever is returned here.

    Returns:
        None where there is nothing to say, else a `CheckResult` with a `name`. One that is `rejected` rejects the
        candidate, with the name as reason; one that is `flagged` warns. An exception is a fault of the check: the
        candidate ends as `error: check`.
    """
