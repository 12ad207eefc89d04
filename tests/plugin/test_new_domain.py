"""`toolgate init --domain` writes a package that works as it is."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from pytest_toolgate.cli.main import main

from .pool import Pool

pytestmark = pytest.mark.slow


def install(folder: Path, site: Path) -> None:
    """As somebody installs it, without the network."""
    quiet = ("--quiet", "--disable-pip-version-check", "--root-user-action", "ignore")
    offline = ("--no-build-isolation", "--no-deps", "--target", str(site))
    subprocess.run([sys.executable, "-m", "pip", "install", *quiet, *offline, str(folder)], check=True)


@pytest.fixture
def add(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Write the package of a new domain and install it; gives the folder of its seeds."""
    before = os.environ.get("PYTHONPATH")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(pool.root / "site"), before))))

    def write_and_install(name: str, *options: str) -> Path:
        assert main(["init", "--domain", name, *options, str(pool.root)]) == 0
        folder = pool.root / f"toolgate-domain-{name}"
        install(folder, pool.root / "site")
        return folder / f"toolgate_domain_{name.replace('-', '_')}" / "seeds"

    return write_and_install


def test_its_seed_passes_lint_and_verify(pool: Pool, add: Callable[..., Path]) -> None:
    session = pool.run(add("number-lab", "--package", "numpy"), "--toolgate-gates=lint,verify")
    assert session.verdicts == {"first": "provisional verify"}
    runs = pool.recorded("script_runs")
    assert len(runs) == 2
    for run in runs:
        assert json.loads(run["used"]) == ["numpy"]
        assert json.loads(run["environment"])["packages"]["numpy"] == version("numpy")


def test_the_installed_package_has_guide_and_seeds(pool: Pool, add: Callable[..., Path]) -> None:
    add("number-lab", "--package", "numpy")
    code = (
        "from pytest_toolgate.domains import load_domain\n"
        "domain = load_domain('number-lab')\n"
        "print(domain.guide.splitlines()[0], domain.packages, [str(path) for path in domain.seeds.iterdir()])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seed = pool.root / "site/toolgate_domain_number_lab/seeds/first.yaml"
    assert done.stdout == f"# number-lab, for authors of questions ('numpy',) {[str(seed)]}\n"


def test_software_that_is_not_there_is_said(pool: Pool, add: Callable[..., Path]) -> None:
    session = pool.run(add("hollow"), "--toolgate-gates=lint,verify")
    assert session.verdicts == {"first": "error verify environment"}
    assert "the package `hollow` of the domain `hollow` is not installed" in session.cases["first"].headline


def test_its_check_flags_what_the_script_is_told_on_standard_error(pool: Pool, add: Callable[..., Path]) -> None:
    seeds = add("number_lab", "--package", "numpy")
    told = (
        (seeds / "first.yaml")
        .read_text("utf-8")
        .replace("  import math\n", "  import math, sys\n\n  print('step size reduced', file=sys.stderr)\n")
    )
    (seeds / "second.yaml").write_text(told.replace("number_lab-first", "second").replace("k = 1", "k = 01"), "utf-8")
    session = pool.run(seeds, "--toolgate-gates=lint,verify")
    assert session.verdicts == {"first": "provisional verify", "second": "provisional verify"}
    found = pool.rows("SELECT verdict, sentence FROM checks WHERE name = 'number-lab-stderr' ORDER BY verdict")
    assert [tuple(row.values()) for row in found] == [
        ("flagged", "standard error is not empty: step size reduced"),
        ("passed", ""),
    ]
