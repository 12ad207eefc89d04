"""Packages that are hidden from a script cannot be imported, listed or installed again; all others work as ever."""

import importlib.util
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_toolgate.domains import load_domain
from pytest_toolgate.sandbox import Interpreter, Job, SandboxError, inspect_interpreter, locate_packages, run
from pytest_toolgate.sandbox.profile import grants

from .conftest import text

TRIES = """
import importlib, importlib.metadata, importlib.util, json, os, subprocess, sys

def failure(name):
    try:
        importlib.import_module(name)
    except Exception as problem:
        return type(problem).__name__
    return ""

names = {names!r}
pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
listed = subprocess.run([*pip, "list", "--format=json"], capture_output=True).stdout or b"[]"
print(json.dumps({{
    "failures": {{name: failure(name) for name in names}},
    "found": [name for name in names if importlib.util.find_spec(name)],
    "entries": sorted(os.listdir({folder!r})),
    "listed": [each["name"].lower() for each in json.loads(listed)],
    "installed": sorted(each.metadata["Name"].lower() for each in importlib.metadata.distributions()),
}}))
"""


def try_all(interpreter: Interpreter, hidden: Sequence[Path], folder: Path, *names: str) -> dict[str, object]:
    source = TRIES.format(names=names, folder=str(folder))
    found: dict[str, object] = json.loads(text(run(Job(interpreter, source.encode(), hidden=tuple(hidden)))))
    return found


@pytest.mark.parametrize(
    ("domain", "distributions"),
    [("scipy", {"scipy"}), ("fenicsx", {"dolfinx-solver-real", "fenics-basix", "fenics-ffcx", "fenics-ufl"})],
)
def test_the_software_of_a_domain(domain: str, distributions: set[str]) -> None:
    packages = load_domain(domain).packages
    if not all(map(importlib.util.find_spec, packages)):
        pytest.skip(f"needs the software of {domain}")
    interpreter = inspect_interpreter(Path(sys.executable), ("numpy",))
    hidden = locate_packages(interpreter.python, packages)
    [folder] = {path.parent for path in hidden if path.parent.name == "site-packages"}
    before = try_all(interpreter, (), folder, *packages, "numpy.linalg")
    after = try_all(interpreter, hidden, folder, *packages, "numpy.linalg")
    assert after["failures"] == {**dict.fromkeys(packages, "ModuleNotFoundError"), "numpy.linalg": ""}
    assert after["found"] == ["numpy.linalg"]
    assert {*before["entries"]} - {*after["entries"]} == {path.name for path in hidden}  # type: ignore[misc]
    gone = {*before["installed"]} - {*after["installed"]}  # type: ignore[misc]
    assert gone
    assert gone <= distributions
    assert {*after["listed"]} == {*before["listed"]} - gone  # type: ignore[misc]


def test_nothing_can_be_put_in_their_place_or_installed() -> None:
    interpreter = inspect_interpreter(Path(sys.executable), ("numpy",))
    hidden = locate_packages(interpreter.python, ("scipy",))
    source = f"""
import os, subprocess, sys
try:
    os.mkdir({str(next(path for path in hidden if path.name == "scipy"))!r})
except OSError as problem:
    print(problem.strerror)
pip = [sys.executable, "-m", "pip", "install", "--retries=0", "--target=here", "scipy"]
print(subprocess.run(pip, capture_output=True).returncode)
"""
    assert text(run(Job(interpreter, source.encode(), hidden=hidden))) == "Read-only file system\n1\n"


def environment(place: Path) -> tuple[Path, Path]:
    """A virtual environment and its directory of packages."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    [folder] = place.glob("lib/python*/site-packages")
    return place / "bin" / "python", folder


def write(path: Path, content: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


def test_whatever_way_a_package_was_installed(tmp_path: Path) -> None:
    """A module of one file, a namespace, a link, and a folder elsewhere that a `.pth` file leads to."""
    python, folder = environment(tmp_path / "env")
    write(folder / "single.py", "x = 1")
    write(folder / "single-1.dist-info" / "METADATA", "Name: single\nVersion: 1\n")
    write(folder / "single-1.dist-info" / "RECORD", "single.py,,\n")
    write(folder / "space" / "part.py")
    write(tmp_path / "env" / "src" / "linked" / "__init__.py")
    (folder / "linked").symlink_to(tmp_path / "env" / "src" / "linked")
    write(tmp_path / "env" / "work" / "editable" / "__init__.py")
    write(folder / "__editable__.editable.pth", str(tmp_path / "env" / "work"))
    write(folder / "editable-1.dist-info" / "METADATA", "Name: editable\nVersion: 1\n")
    write(folder / "editable-1.dist-info" / "RECORD", "__editable__.editable.pth,,\n")
    url = json.dumps({"url": (tmp_path / "env" / "work").as_uri()})
    write(folder / "editable-1.dist-info" / "direct_url.json", url)
    write(folder / "other.py", "y = 2")
    names = ("single", "space", "linked", "editable")
    interpreter = inspect_interpreter(python)
    before = try_all(interpreter, (), folder, *names, "other")
    assert before["failures"] == dict.fromkeys((*names, "other"), "")
    assert before["installed"] == ["editable", "single"]
    after = try_all(interpreter, locate_packages(python, names), folder, *names, "other")
    assert after["failures"] == {**dict.fromkeys(names, "ModuleNotFoundError"), "other": ""}
    assert (after["found"], after["installed"]) == (["other"], [])


def test_environments_within_the_environment(tmp_path: Path) -> None:
    """Such as the `envs` and `pkgs` of conda, or a virtual environment of something else's."""
    python, folder = environment(tmp_path / "env")
    inner, beside = environment(tmp_path / "env" / "envs" / "other")
    unpacked = tmp_path / "env" / "pkgs" / "single-1" / "site-packages"
    for site in (folder, beside, unpacked):
        write(site / "single.py", "x = 1")
    source = f"""
import subprocess, sys
tries = [[sys.executable, "-c", "import single"], [{str(inner)!r}, "-c", "import single"],
         [sys.executable, "-c", "import sys; sys.path[:0] = [{str(unpacked)!r}]; import single"]]
for command in tries:
    print(subprocess.run(command, capture_output=True, text=True).stderr.strip().rpartition("\\n")[2])
"""
    interpreter = inspect_interpreter(python)
    assert text(run(Job(interpreter, source.encode()))).split() == []
    hidden = locate_packages(python, ("single",))
    assert (
        text(run(Job(interpreter, source.encode(), hidden=hidden))).splitlines()
        == ["ModuleNotFoundError: No module named 'single'"] * 3
    )


def test_a_package_that_is_nowhere_leaves_all_as_it_is() -> None:
    assert locate_packages(Path(sys.executable), ("no_such_package",)) == ()


def test_landlock_can_hide_none_and_says_so(tmp_path: Path) -> None:
    interpreter = inspect_interpreter(Path(sys.executable), ("numpy",))
    hidden = locate_packages(interpreter.python, ("scipy",))
    with pytest.raises(SandboxError, match="of which the tier `landlock` can hide no part"):
        grants(interpreter, base=tmp_path, workspace=None, hidden=hidden, record="/run/used/x")
