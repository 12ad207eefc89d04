"""Every attack, as a candidate and as an agent's command, comes to what it should, and does no harm.

That harm would be found is shown by plain subprocesses, which nothing stops.
"""

import collections
from pathlib import Path

import pytest

from pytest_toolgate.sandbox.identity import is_root

from .attack import PASSED, Attack, Way
from .catalog import CATALOG
from .conftest import Reports
from .page import PAGE, render
from .variants import VARIANTS
from .ways import DISK, MEMORY, TIME, WORKERS, MiB

pytestmark = [pytest.mark.timeout(900), pytest.mark.slow]
SANDBOXED: tuple[Way, ...] = ("candidate", "agent")

everywhere = pytest.mark.parametrize(
    ("variant", "way"), [(name, way) for name, variant in VARIANTS.items() for way in variant.ways]
)


def _named(attack: Attack) -> str:
    return attack.name


@everywhere
@pytest.mark.parametrize("attack", CATALOG, ids=_named)
def test_an_attack(reports: Reports, variant: str, way: Way, attack: Attack) -> None:
    result = reports(variant, way).results[attack.name]
    assert (result.verdict, result.ended) == (attack.verdict(way), attack.ending(way))
    if way in attack.opens or attack.name in VARIANTS[variant].opens:
        assert _did(attack, result.found), "this is open no more: say so in the catalog"
    else:
        assert result.found == []


@pytest.mark.parametrize("attack", [attack for attack in CATALOG if attack.plain.startswith("harm")], ids=_named)
def test_the_harm_would_be_found(reports: Reports, attack: Attack) -> None:
    found = reports("stock", "plain").results[attack.name].found
    if attack.plain == "harm as root" and not is_root():
        pytest.skip("only root can do it")
    if attack.plain == "harm where offered" and not found:
        pytest.skip("this kernel does not offer it to this user")
    assert _did(attack, found)


@everywhere
@pytest.mark.parametrize("attack", [attack for attack in CATALOG if attack.twice], ids=_named)
def test_a_second_run_finds_nothing_of_the_first(reports: Reports, variant: str, way: Way, attack: Attack) -> None:
    result = reports(variant, way).again[attack.name]
    assert (result.verdict, result.found) == (attack.verdict(way), [])


@everywhere
def test_nothing_is_left(reports: Reports, variant: str, way: Way) -> None:
    report = reports(variant, way)
    assert report.found == []
    assert report.watched["survivors"] == []
    assert report.results["neighbour"].verdict == f"provisional {'verify' if way == 'candidate' else 'solve'}"


@everywhere
def test_the_whole_session_stays_within_bounds(reports: Reports, variant: str, way: Way) -> None:
    watched = reports(variant, way).watched
    # Between two looks of the watchdog each of the sandboxes may go beyond its limit; pytest takes some itself.
    assert watched["memory"] < WORKERS * 2 * MEMORY + 512 * MiB
    assert watched["directory"] < WORKERS * 2 * DISK
    # 64 in each sandbox with its supervisor and bubblewrap's own two; pytest's workers.
    assert watched["processes"] < WORKERS * 68 + 16


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("attack", CATALOG, ids=_named)
def test_figures_stay_within_bounds(reports: Reports, variant: str, attack: Attack) -> None:
    figures = reports(variant, "candidate").results[attack.name].figures
    assert figures["wall"] < TIME + 2
    assert figures["peak_memory"] < 2 * MEMORY
    # The largest sum of the working directory, /tmp and /dev/shm, each of which is as large as the limit.
    assert figures["disk_used"] <= 3 * (DISK + 1 * MiB)
    assert figures["kept"] < 330 * 1024


def _did(attack: Attack, found: list[str]) -> bool:
    return any(line.startswith(f"{attack.harm}: ") for line in found)


# --- the catalog and the page -------------------------------------------------------------------------------------


def test_the_catalog_is_what_it_claims_to_be() -> None:
    names = [attack.name for attack in CATALOG]
    assert len(names) >= 64
    assert len(set(names)) == len(names)
    assert min(collections.Counter(attack.kind for attack in CATALOG).values()) >= 3
    assert sum(attack.plain.startswith("harm") for attack in CATALOG) > len(CATALOG) / 2
    for attack in CATALOG:
        # What fails silently is told from what never ran by the answer at its end.
        assert attack.outcome != PASSED or attack.answers
        assert attack.tries.endswith(".")


def test_the_page_says_what_has_just_happened(reports: Reports) -> None:
    generated = render({way: reports("stock", way).results for way in SANDBOXED})
    assert Path(PAGE).read_text("utf-8") == generated, "make attacks-page"
