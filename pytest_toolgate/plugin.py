"""The pytest entry point: options and hooks. It wires, and decides nothing.

It is loaded in every pytest session of an environment, so it imports nothing but pytest and cheap modules of its
own until a candidate is found.
"""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from . import hookspecs, options
from .collection import CandidateItem, candidate_file, candidate_roots, is_candidate

DRY_RUN = "toolgate-dry-run"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare `--toolgate-*` and the ini options of the same names."""
    options.declare(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Make the hooks of `hookspecs` known."""
    pluginmanager.add_hookspecs(hookspecs)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and on the controlling process the object that records a run."""
    config.addinivalue_line("markers", "toolgate: a benchmark candidate collected by pytest-toolgate")
    if hasattr(config, "workerinput"):
        return
    if options.flag(config, "dry-run"):
        from .dry_run import DryRun

        config.pluginmanager.register(DryRun(config), DRY_RUN)
    if not candidate_roots(config).expected:
        return
    from .controller import Controller

    config.pluginmanager.register(Controller(config), "toolgate-controller")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Linked folders below the candidates are not followed."""
    roots = candidate_roots(config)
    linked = roots.expected and collection_path.is_symlink() and collection_path.is_dir()
    return True if linked and roots.cover(collection_path) else None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect candidate files: where the configuration says, and whenever named on the command line."""
    if is_candidate(file_path, parent.session):
        return candidate_file(file_path, parent)
    return None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give every candidate its backstop, and keep a replacement worker to the run's own list of items."""
    pinned = getattr(config, "workerinput", {}).get("toolgate_ids")
    if pinned is not None:
        known = {item.nodeid: item for item in items}
        items[:] = [known[nodeid] for nodeid in pinned if nodeid in known]
    candidates = [item for item in items if isinstance(item, CandidateItem)]
    if candidates and not config.option.collectonly and not config.pluginmanager.has_plugin(DRY_RUN):
        from .judging import prepare

        prepare(config, candidates)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put the attempt on the report of a candidate; a failure of machinery reads as an error, not as a failure."""
    report = yield
    if isinstance(item, CandidateItem):
        from .judging import complete_report

        complete_report(item, call, report)
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: Any) -> tuple[str, str, str | tuple[str, dict[str, bool]]] | None:  # noqa: ANN401
    """Show the outcome as the word for a test's result."""
    if getattr(report, "toolgate", None) is None:
        return None
    from .summary import status

    return status(report)
