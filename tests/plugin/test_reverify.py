"""`toolgate reverify`: the software of a domain changes, and what its scripts print with it."""

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from scripted_server import ScriptedServer, avoiding, by_model, running

from .pool import PROVIDER, SCREEN, SOLVE, VERIFY, Pool

pytestmark = pytest.mark.slow
_DOMAINS = """
    from pathlib import Path
    from pytest_toolgate.domains import Domain

    LAB = Domain(name="lab", title="lab", packages=("numlab",), distributions=("numlab",),
                 python=Path({python!r}))
"""
OPTIONS = {"A": "1.1", "B": "1.0", "C": "1.5", "D": "2.0"}
PRINTS = 'import numlab\nprint(f"ANSWER: {numlab.value()}")\n'


class Lab:
    """A repository with a domain of its own, whose package is made on the spot."""

    def __init__(self, pool: Pool, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
        self.pool = pool
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", "bare"], cwd=pool.root, check=True)
        self.site = next(pool.root.glob("bare/lib/python*/site-packages"))
        pool.write("site/lab_domains.py", textwrap.dedent(_DOMAINS).format(python=str(pool.root / "bare/bin/python")))
        pool.write("site/lab-1.dist-info/METADATA", "Name: lab\nVersion: 1\n")
        pool.write("site/lab-1.dist-info/entry_points.txt", "[pytest_toolgate.domains]\nlab = lab_domains:LAB\n")
        before = os.environ.get("PYTHONPATH")
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(pool.root / "site"), before))))
        pool.configure(PROVIDER, VERIFY, SCREEN, SOLVE, url=server.base_url)
        solving = running(
            "import json, numlab\noptions = json.load(open('problem.json'))['options']\n"
            "open('answer.txt', 'w').write(next(key for key, text in options.items() if text == '1.0'))"
        )
        server.script = by_model({"screen-model": avoiding("1.0"), "agent-model": solving})

    def install(self, version: str, value: str) -> None:
        """Put a version of the package in the place of the one before."""
        for old in self.site.glob("numlab*"):
            shutil.rmtree(old)
        source = f"def value():\n    return {value}\n"
        self.pool.write(str(self.site / "numlab/__init__.py"), source)
        self.pool.write(str(self.site / f"numlab-{version}.dist-info/METADATA"), f"Name: numlab\nVersion: {version}\n")

    def add(self, name: str, solution: str = PRINTS) -> None:
        self.pool.add(name, solution, domain="lab", options=OPTIONS)

    def reverify(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-c", "import sys; from pytest_toolgate.cli.main import main; sys.exit(main())"]
        return subprocess.run(
            [*command, "reverify", *arguments], cwd=self.pool.root, capture_output=True, text=True, check=False
        )

    def items(self, *arguments: str, code: int) -> dict[str, dict[str, Any]]:
        done = self.reverify("--json", *arguments)
        assert done.returncode == code, done.stdout + done.stderr
        return {item["id"]: item for item in json.loads(done.stdout)["items"]}


@pytest.fixture
def lab(pool: Pool, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> Lab:
    made = Lab(pool, server, monkeypatch)
    made.install("1.0", "1.0")
    for name in ("constant", "value"):
        made.add(name, PRINTS if name == "value" else 'import numlab\nnumlab.value()\nprint("ANSWER: 1.0")\n')
    session = pool.run()
    assert set(session.verdicts.values()) == {"accepted solve"}, session.out
    return made


def everything(root: Path) -> dict[str, bytes]:
    """All that a user keeps."""
    return {
        str(path): path.read_bytes()
        for folder in (".toolgate", "accepted", "candidates")
        for path in sorted((root / folder).rglob("*"))
        if path.is_file()
    }


def test_a_value_that_the_software_has_changed_is_told_with_both_versions(lab: Lab, server: ScriptedServer) -> None:
    before, calls = everything(lab.pool.root), server.count
    done = lab.reverify()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "constant: same: `1.0`\nvalue: same: `1.0`\n2 accepted items: 2 same\n"
    lab.install("1.1", "1.1")
    done = lab.reverify()
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "constant: same: `1.0`; numlab 1.0 -> 1.1",
        "value: drifted: `1.0` -> `1.1`; numlab 1.0 -> 1.1; the script's answer `1.1` is option A `1.1`, "
        "and the proposed answer is B `1.0`",
        "2 accepted items: 1 same, 1 drifted",
    ]
    items = lab.items(code=1)
    assert items["value"]["old_values"] == ["1.0"]
    assert items["value"]["new_values"] == ["1.1"]
    assert items["value"]["packages"] == {"numlab": ["1.0", "1.1"]}
    assert everything(lab.pool.root) == before
    assert server.count == calls
    assert not list(lab.pool.temporary.glob("toolgate-*"))


def test_another_value_that_rounds_to_the_same_option_is_no_drift(lab: Lab) -> None:
    lab.install("1.2", "1.0000001")
    items = lab.items(code=0)
    assert (items["value"]["now"], items["value"]["new_values"]) == ("same option", ["1.0000001"])


def test_a_script_that_fails_has_failed(lab: Lab) -> None:
    lab.install("2.0", "1 / 0")
    items = lab.items(code=1)
    assert {item["now"] for item in items.values()} == {"failed"}
    assert "ZeroDivisionError" in items["value"]["sentence"]


def test_software_that_is_not_there_is_no_drift(lab: Lab) -> None:
    for old in lab.site.glob("numlab*"):
        shutil.rmtree(old)
    done = lab.reverify()
    assert done.returncode == 2
    assert "value: error: `1.0`; " in done.stdout
    assert "the package `numlab` of the domain `lab` is not installed" in done.stdout
    assert done.stdout.endswith("2 accepted items: 2 error\n")


def test_the_items_are_those_of_the_record_not_the_files(lab: Lab) -> None:
    lab.add("value", 'print("ANSWER: 2.0")\n')
    (lab.pool.root / "candidates/constant.yaml").unlink()
    assert {item["now"] for item in lab.items(code=0).values()} == {"same"}


def test_a_directory_of_accepted_items_is_enough(lab: Lab) -> None:
    shutil.move(lab.pool.root / "accepted", lab.pool.root / "published")
    shutil.rmtree(lab.pool.root / ".toolgate")
    lab.install("1.1", "1.1")
    items = lab.items("--accepted", "published", code=1)
    assert items["value"]["packages"] == {"numlab": ["1.0", "1.1"]}
    assert {name: item["now"] for name, item in items.items()} == {"constant": "same", "value": "drifted"}
    assert not (lab.pool.root / ".toolgate").exists()


def test_what_makes_no_sense_is_one_sentence(lab: Lab) -> None:
    lab.pool.write("bad/x.json", "[]")
    for arguments, sentence in (
        (("--db", "none.db"), "there is no database none.db"),
        (("--accepted", "none"), "there is no directory none"),
        (("--accepted", "bad"), "bad/x.json is no accepted item"),
        (("--domain", "scipy"), "holds no accepted item of the domain `scipy`"),
    ):
        done = lab.reverify(*arguments)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
        assert sentence in done.stderr
