"""The seeds of the shipped domains pass gates lint and verify, run twice under different conditions."""

import importlib.util
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from .pool import Pool

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("folder", "needs"),
    [
        pytest.param("seeds", "dolfinx_solver", marks=pytest.mark.slow, id="fenicsx"),
        pytest.param("pytest_toolgate/domains/scipy/seeds", "scipy", id="scipy"),
    ],
)
def test_every_seed_reproduces_its_answer(pool: Pool, folder: str, needs: str) -> None:
    if importlib.util.find_spec(needs) is None:
        pytest.skip(f"needs {needs}")
    shutil.copytree(ROOT / folder, pool.root / "seeds")
    pool.write("toolgate.yaml", (ROOT / "toolgate.yaml").read_text("utf-8"))
    session = pool.run("seeds", "--toolgate-gates=lint,verify")
    names = [path.stem for path in sorted((ROOT / folder).glob("*.yaml"))]
    assert names
    assert session.verdicts == dict.fromkeys(names, "provisional verify")
    assert {run["number"] for run in pool.recorded("script_runs")} == {0, 1}


_DOMAINS = """
    from pathlib import Path
    from pytest_toolgate.domains import Domain

    def domain(name, seeds):
        return Domain(name=name, title=name, packages=("json",), distributions=(), seeds=seeds)

    CLOSED = domain("closed", Path({seeds!r}))
    OPEN = domain("open", None)
"""


def test_scripts_do_not_see_the_seeds_of_their_domain(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even where scripts run in the environment that has them; a domain without seeds shows that they could."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "bare"], cwd=pool.root, check=True)
    seed = next(pool.root.glob("bare/lib/python*/site-packages")) / "lab" / "seeds" / "one.yaml"
    pool.write(str(seed), "question: what an agent must not read\n")
    pool.write("site/lab_domains.py", textwrap.dedent(_DOMAINS).format(seeds=str(seed.parent)))
    pool.write("site/lab-1.dist-info/METADATA", "Name: lab\nVersion: 1\n")
    points = "[pytest_toolgate.domains]\nclosed = lab_domains:CLOSED\nopen = lab_domains:OPEN\n"
    pool.write("site/lab-1.dist-info/entry_points.txt", points)
    before = os.environ.get("PYTHONPATH")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(pool.root / "site"), before))))
    python = pool.root / "bare/bin/python"
    pool.configure(f"domains: {{closed: {{python: {python}}}, open: {{python: {python}}}}}\nverify: {{repeats: 1}}\n")
    for name in ("closed", "open"):
        pool.add(name, f"from pathlib import Path\nprint(Path({str(seed)!r}).is_file())", domain=name)
    pool.run("--toolgate-gates=lint,verify")
    seen = {run["name"]: run["stdout"].strip() for run in pool.recorded("script_runs")}
    assert seen == {"closed": "False", "open": "True"}
