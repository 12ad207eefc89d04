"""Before the first script of a domain its software is proven: where it does not work, no candidate is blamed."""

import importlib.util
import json
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from scripted_server import ScriptedServer

from .pool import PROVIDER, SCRIPT, SOLVE, Pool, Session

_DOMAINS = """
    from pytest_toolgate.domains import Domain

    def domain(name, proof, packages=("json",)):
        return Domain(name=name, title=name, packages=packages, distributions=(), proof=proof)

    BROKEN = domain("broken", "import os, sys; sys.exit(f'no licence {os.urandom(4).hex()}; type: licence start')")
    DIES = domain("dies", "import os; os.kill(os.getpid(), 9)")
    FLOODS = domain("floods", "while True: print('x' * 100000)")
    SILENT = domain("silent", "import os; os._exit(3)")
    LENIENT = domain("lenient", "pass", ("no_such_software",))
    IMPORTS = domain("imports", "", ("json", "no_such_software"))
    FINE = domain("fine", "print('anything')")
"""
_NAMES = ("broken", "dies", "floods", "silent", "lenient", "imports", "fine")


@pytest.fixture
def extended(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> Pool:
    """A repository in whose environment an extension with domains is installed."""
    points = "".join(f"{name} = more_domains:{name.upper()}\n" for name in _NAMES)
    pool.write("site/more_domains.py", _DOMAINS)
    pool.write("site/more-1.dist-info/METADATA", "Name: more\nVersion: 1\n")
    pool.write("site/more-1.dist-info/entry_points.txt", f"[pytest_toolgate.domains]\n{points}")
    monkeypatch.setenv("PYTHONPATH", f"{pool.root / 'site'}:{Path(__file__).parents[2]}")
    return pool


def bare(pool: Pool, name: str = "bare") -> Path:
    """An environment without any software."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", name], cwd=pool.root, check=True)
    return pool.root / name / "bin" / "python"


def failures(session: Session) -> list[str]:
    """What the summary says of preflights."""
    return re.findall(r"^preflight failed: (.*)$", session.summary, flags=re.MULTILINE)


def test_software_that_is_not_installed(pool: Pool, workers: int) -> None:
    """One line for the run, one for each candidate, and no script was run."""
    python = bare(pool)
    pool.configure(f"domains: {{scipy: {{python: {python}}}}}")
    for number in range(4):
        pool.add(f"case-{number}", SCRIPT if number else "import requests")
    pool.add("misformed", answer="E")
    session = pool.run(workers=workers)
    assert session.code == 1
    cases = {f"case-{number}": "error verify environment" for number in range(4)}
    assert session.verdicts == cases | {"misformed": "rejected lint bad-answer"}
    [line] = failures(session)
    assert line == (
        f"the package `scipy` of the domain `scipy` is not installed in {python}; "
        "install it there, or set `domains.scipy.python` to an interpreter that has it"
    )
    for name in cases:
        assert session.cases[name].tag == "error"
        assert line in session.cases[name].headline
    assert pool.recorded("script_runs") == []
    assert "Traceback" not in session.out


def test_what_a_proof_says_is_said_once_for_all_workers(extended: Pool, workers: int) -> None:
    for number in range(4):
        extended.add(f"case-{number}", domain="broken")
    extended.add("other", domain="fine")
    session = extended.run(workers=workers)
    assert session.code == 1
    others = {"other": "rejected verify tool-unused"}
    assert session.verdicts == {f"case-{number}": "error verify environment" for number in range(4)} | others
    # A proof that had run twice would have said two things.
    [line] = failures(session)
    assert re.fullmatch(r"the domain `broken` does not work in \S+: no licence \w+; type: licence start", line)
    assert all(line in session.cases[f"case-{number}"].headline for number in range(4))


def test_the_next_run_asks_again(extended: Pool) -> None:
    extended.add("case", domain="broken")
    first = extended.run()
    second = extended.run()
    assert failures(first) != failures(second)
    assert failures(second)


@pytest.mark.parametrize(
    ("domain", "words"),
    [
        ("dies", "its proof was killed by signal 9"),
        ("floods", "its proof exceeded its output limit of 8 MiB"),
        ("silent", "its proof exited with status 3"),
        ("imports", "the package `no_such_software` of the domain `imports` is not installed"),
    ],
)
def test_whatever_becomes_of_a_proof_is_one_line(extended: Pool, domain: str, words: str) -> None:
    """A domain that leaves it out is proven by importing its packages."""
    extended.add("case", domain=domain)
    session = extended.run()
    assert session.verdicts == {"case": "error verify environment"}
    [line] = failures(session)
    assert words in line
    assert extended.recorded("script_runs") == []


def test_a_missing_package_that_the_proof_did_not_look_for(extended: Pool) -> None:
    """The domain's own is a fault of the environment, any other one of the script."""
    extended.add("own", "import no_such_software", domain="lenient")
    extended.add("part", "import no_such_software.part", domain="lenient")
    extended.add("other", "import requests_of_nobody", domain="lenient")
    extended.add(
        "pretends", "raise ModuleNotFoundError(\"No module named 'no_such_software_extras'\")", domain="lenient"
    )
    session = extended.run()
    assert session.verdicts == {
        "own": "error verify environment",
        "part": "error verify environment",
        "other": "rejected verify exit-status",
        "pretends": "rejected verify exit-status",
    }
    assert failures(session) == []
    assert "the package `no_such_software` of the domain `lenient` is not installed" in session.cases["own"].headline


def test_a_fault_of_the_machinery_decides_nothing(extended: Pool) -> None:
    """The first candidate lies where no sandbox can hide it, so its proof cannot be run; the second one's can."""
    extended.configure(f"domains: {{fine: {{python: {bare(extended)}}}}}")
    extended.add("first", under="bare", domain="fine")
    extended.add("second", "print('ANSWER: 0.060723')", domain="fine")
    session = extended.run("bare/first.yaml", "candidates")
    assert session.verdicts == {"first": "error verify sandbox", "second": "rejected verify tool-unused"}
    assert failures(session) == []
    assert {run["name"] for run in extended.recorded("script_runs")} == {"second"}


def test_an_agent_gets_no_environment_that_does_not_work(pool: Pool, server: ScriptedServer) -> None:
    """And nobody pays for one."""
    pool.configure(PROVIDER, SOLVE, f"domains: {{scipy: {{python: {bare(pool)}}}}}", url=server.base_url)
    pool.add("case")
    session = pool.run("--toolgate-gates=solve")
    assert session.verdicts == {"case": "error solve environment"}
    assert len(failures(session)) == 1
    assert (server.count, len(server.preflights)) == (0, 0)


# --- FEniCSx ------------------------------------------------------------------------------------------------

needs_dolfinx = pytest.mark.skipif(importlib.util.find_spec("dolfinx_solver") is None, reason="needs DOLFINx")


def with_the_software_of_this_one(pool: Pool) -> Path:
    """An environment that has programs of its own, and for the rest what is installed where the tests run."""
    python = bare(pool)
    site = next((pool.root / "bare" / "lib").glob("python*/site-packages"))
    (site / "elsewhere.pth").write_text(sysconfig.get_path("purelib"))
    # So that the other directory is known for a part of the environment, and shown in the sandbox.
    (site / "sitecustomize.py").write_text(f"import sys\nsys.exec_prefix = {sys.prefix!r}\n")
    return python


@needs_dolfinx
@pytest.mark.parametrize("works", [True, False], ids=["compiler", "no-compiler"])
def test_fenicsx_without_a_compiler(pool: Pool, works: bool) -> None:
    python = with_the_software_of_this_one(pool)
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    if not works:
        # Found before the system's own.
        (python.parent / compiler).write_text("#!/bin/sh\necho 'no input language' >&2\nexit 1\n")
        (python.parent / compiler).chmod(0o755)
    pool.configure(f"domains: {{fenicsx: {{python: {python}}}}}")
    pool.add("first", "import dolfinx_solver, dolfinx\nprint('ANSWER: 0.060723')", domain="fenicsx")
    pool.add("second", "import dolfinx_solver, dolfinx\nprint('ANSWER: 0.060723')", domain="fenicsx")
    session = pool.run()
    verdict = "provisional verify" if works else "error verify environment"
    assert session.verdicts == {"first": verdict, "second": verdict}
    if not works:
        [line] = failures(session)
        assert line.startswith(
            f"the domain `fenicsx` does not work in {python}: a form cannot be compiled; a C compiler and the C "
            "library's headers are needed, for example: apt-get install gcc libc6-dev ("
        )
        assert pool.recorded("script_runs") == []


@needs_dolfinx
def test_fenicsx_that_is_not_installed(pool: Pool) -> None:
    """The stand-in of a module that only some builds have hides nothing."""
    pool.configure(f"domains: {{fenicsx: {{python: {bare(pool)}}}}}")
    pool.add("case", "import dolfinx", domain="fenicsx")
    session = pool.run()
    assert session.verdicts == {"case": "error verify environment"}
    [line] = failures(session)
    assert "`basix` of the domain `fenicsx` is not installed" in line


def test_a_good_proof_leaves_no_row_and_is_kept_for_the_run_only(extended: Pool) -> None:
    extended.add("case", "import json\nprint('ANSWER: 0.060723')", domain="fine")
    session = extended.run()
    assert session.verdicts == {"case": "rejected verify tool-unused"}
    assert [json.loads(run["environment"])["packages"] for run in extended.recorded("script_runs")] == [{}, {}]
    assert list(extended.temporary.iterdir()) == []
