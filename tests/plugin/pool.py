"""A repository of candidates in which pytest is run as its user would run it."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

OPTIONS: Mapping[str, str] = {"A": "0.058996", "B": "0.060723", "C": "0.060074", "D": "0.061291"}
VALUE = "0.060723"
SCRIPT = f'import scipy\nprint("ANSWER: {VALUE}")\n'
PROVIDER = """
    providers:
      fake:
        api: <api>
        base_url: "<url>"
        api_key_env: CANARY_KEY
        timeout: 5
        retries: {attempts: 2, max_wait: 1}
"""
VERIFY = "verify: {time_limit: 20, repeats: 1}\n"
SCREEN = """
    screens:
      - {name: light, provider: fake, model: screen-model, samples: 1, reject_at: 1}
"""
THREE_CALLS = """
    screens:
      - {name: light, provider: fake, model: screen-model, samples: 3, reject_at: 2}
"""
SOLVE = "solve: {agent: builtin, provider: fake, model: agent-model, time_limit: 20, max_turns: 3}\n"
# Plugins of other projects that these sessions neither need nor should wait for.
_QUIET = ("-p", "no:hypothesispytest", "-p", "no:anyio")


@dataclass(frozen=True, slots=True)
class Case:
    """One testcase of the JUnit file.

    Attributes:
        tag: `passed`, `failure` or `error`.
        text: What the failure or error says.
        properties: Its properties, without `toolgate.`.
    """

    tag: str
    text: str
    properties: Mapping[str, str]

    @property
    def headline(self) -> str:
        """The first line of the failure."""
        return self.text.split("\n", 1)[0]

    @property
    def verdict(self) -> str:
        """`outcome gate reason`, the reason left out when there is none."""
        return " ".join(filter(None, (self.properties[name] for name in ("outcome", "gate", "reason"))))


@dataclass(frozen=True, slots=True)
class Session:
    """One finished pytest session.

    Attributes:
        code: Its exit code.
        out: What it printed.
        err: What it complained about.
        cases: JUnit name -> testcase.
    """

    code: int
    out: str
    err: str
    cases: Mapping[str, Case]

    @property
    def verdicts(self) -> dict[str, str]:
        """JUnit name -> `outcome gate reason`."""
        return {name: case.verdict for name, case in self.cases.items()}

    @property
    def summary(self) -> str:
        """The plugin's own section of the terminal."""
        return self.out.rpartition("= toolgate =")[2]

    def line_about(self, name: str) -> str:
        """The line of the summary about a candidate."""
        return next(line for line in self.summary.splitlines() if f"{name}." in line)


@dataclass(frozen=True, slots=True)
class Started:
    """A pytest session under way."""

    process: subprocess.Popen[bytes]
    output: Path

    def signal(self, number: int) -> None:
        """Send a signal to the controlling process alone."""
        os.kill(self.process.pid, number)

    def signal_group(self, number: int) -> None:
        """Send a signal to all of them, as a terminal does."""
        os.killpg(self.process.pid, number)

    def kill_group(self) -> None:
        """End all of them at once, wherever they are."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def wait(self) -> int:
        """The exit code, once it has ended by itself."""
        return self.process.wait(60)


class Pool:
    """The repository.

    Attributes:
        root: Its directory, which is pytest's rootdir.
        temporary: Where its sessions put their temporary files.
    """

    def __init__(self, pytester: pytest.Pytester, temporary: Path) -> None:
        self.pytester = pytester
        self.temporary = temporary
        self.root = pytester.path
        self.write("pytest.ini", "[pytest]\n")

    def write(self, path: str, content: str | bytes) -> Path:
        """Write any file."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            file.write_bytes(content)
        else:
            file.write_text(textwrap.dedent(content), "utf-8")
        return file

    def add(
        self,
        name: str,
        solution: str | None = SCRIPT,
        *,
        under: str = "candidates",
        **keys: Any,  # noqa: ANN401 - whatever a candidate file may hold
    ) -> Path:
        """Write a candidate that is right but for what is said here; its question holds its name."""
        content: dict[str, Any] = {
            "domain": "scipy",
            "question": f"What is the value of {name}?",
            "options": OPTIONS,
            "answer": "B",
            "solution": solution and textwrap.dedent(solution),
            **keys,
        }
        lines = [f"{key}: {json.dumps(value)}\n" for key, value in content.items() if value is not None]
        return self.write(f"{under}/{name}.yaml", "".join(lines).encode())

    def configure(self, *parts: str, url: str = "", api: str = "responses") -> None:
        """Write `toolgate.yaml`."""
        text = "".join(textwrap.dedent(part) for part in parts)
        self.write("toolgate.yaml", text.replace("<url>", url).replace("<api>", api))

    def run(self, *arguments: str | Path, workers: int = 0) -> Session:
        """Run pytest to its end."""
        report = self.root / "junit.xml"
        report.unlink(missing_ok=True)
        result = self.pytester.runpytest_subprocess(
            *_QUIET, f"-n{workers}", f"--junitxml={report}", *arguments, timeout=120
        )
        return Session(int(result.ret), str(result.stdout), str(result.stderr), read_junit(report))

    @contextmanager
    def started(self, *arguments: str, workers: int = 0) -> Iterator["Started"]:
        """Start pytest in a process group of its own, to be signalled on its way."""
        command = [
            sys.executable,
            "-m",
            "pytest",
            *_QUIET,
            f"-n{workers}",
            "--junitxml=junit.xml",
            *arguments,
        ]
        output = self.root / "output.txt"
        with output.open("wb") as file:
            process = subprocess.Popen(
                command, cwd=self.root, stdout=file, stderr=subprocess.STDOUT, start_new_session=True
            )
        started = Started(process, output)
        try:
            yield started
        finally:
            started.kill_group()

    def junit(self) -> Mapping[str, Case]:
        """The testcases of the JUnit file that stands there now."""
        return read_junit(self.root / "junit.xml")

    @property
    def database(self) -> Path:
        """The default database."""
        return self.root / ".toolgate" / "toolgate.db"

    def rows(self, sql: str, parameters: Sequence[str] = ()) -> list[dict[str, Any]]:
        """Rows of the database, read as any SQLite tool would."""
        with closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(sql, parameters)]

    def recorded(self, table: str) -> list[dict[str, Any]]:
        """Rows of a table about attempts, each with the `name` of its candidate, by name and time."""
        rows = self.rows(
            f"SELECT {table}.*, attempts.path FROM {table} JOIN attempts ON attempts.id = {table}.attempt_id "
            f"ORDER BY attempts.path, {table}.time"
        )
        return [{**row, "name": Path(row["path"]).stem} for row in rows]

    def accepted(self) -> list[str]:
        """Ids of the accepted items."""
        return sorted(path.stem for path in (self.root / "accepted").glob("*.json"))

    def forget(self) -> None:
        """Remove the database and everything accepted."""
        for directory in (".toolgate", "accepted"):
            shutil.rmtree(self.root / directory, ignore_errors=True)


def read_junit(report: Path) -> Mapping[str, Case]:
    """The testcases of a JUnit file by name; each name may be there once only."""
    if not report.exists():
        return {}
    cases: dict[str, Case] = {}
    for element in ET.parse(report).iter("testcase"):
        found = next((child for child in element if child.tag in ("failure", "error", "skipped")), None)
        properties = {
            item.attrib["name"].removeprefix("toolgate."): item.attrib["value"] for item in element.iter("property")
        }
        name = element.attrib.get("name")
        if name is None:
            continue  # pytest leaves this behind for the item under way when a session is interrupted
        assert name not in cases, f"{name} is reported twice"
        text = "" if found is None else found.text or ""
        cases[name] = Case("passed" if found is None else found.tag, text, properties)
    return cases


def wait_until(condition: Callable[[], object], seconds: float = 30.0) -> None:
    """Wait for something that another process does."""
    give_up = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < give_up, "it did not happen in time"
        time.sleep(0.05)


def processes(words: str) -> list[str]:
    """Ids of the processes of this machine, sandboxed ones included, that have these words in their command."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if words.encode() in (process / "cmdline").read_bytes().replace(b"\0", b" "):
                found.append(process.name)
    return found
