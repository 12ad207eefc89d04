"""Every candidate and seed of this repository prints the same, bit for bit, from a start of its own and as a copy."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_toolgate.candidate import read_candidate
from pytest_toolgate.domains import domain_names, load_domain
from pytest_toolgate.sandbox import Job, Limits, WarmKeeper, WarmStart, inspect_interpreter, run

from .conftest import DOLFINX

ROOT = Path(__file__).parents[2]
POOL = sorted(
    [*ROOT.glob("candidates/*/*.yaml"), *ROOT.glob("seeds/*.yaml"), *ROOT.glob("pytest_toolgate/domains/scipy/seeds/*")]
)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    directory = tmp_path_factory.mktemp("warm")
    keeper = WarmKeeper(directory)
    keeper.start()
    yield directory
    keeper.stop()


@pytest.mark.slow
@pytest.mark.skipif(not DOLFINX, reason="needs DOLFINx")
@pytest.mark.parametrize("path", POOL, ids=lambda path: path.stem)
def test_the_answer_is_the_same(path: Path, directory: Path) -> None:
    candidate = read_candidate(path, domains=domain_names(), default_domain="fenicsx")
    domain = load_domain(candidate.domain)
    problem = {"id": candidate.id, "question": candidate.question, "options": dict(candidate.options)}
    job = Job(
        inspect_interpreter(Path(sys.executable)),
        candidate.solution.encode(),
        files={"problem.json": json.dumps(problem).encode()},
        limits=Limits(wall=120.0),
        env={"PYTHONHASHSEED": "0"},
        watch=domain.packages,
    )
    stock = run(job)
    assert stock.exit_code == 0
    warm = replace(job, warm=WarmStart(directory, domain.warm_start, domain.preload or domain.packages))
    cold_forms = run(warm)
    kept_forms = run(replace(warm, kept=cold_forms.kept))
    for finished in (cold_forms, kept_forms):
        assert (finished.stdout, finished.exit_code, finished.used) == (stock.stdout, stock.exit_code, stock.used)
    assert kept_forms.kept == b"", "it compiled something again"
