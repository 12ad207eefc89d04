"""The documentation says what is so: commands are run, files are read, names and defaults are the code's own."""

import ast
import dataclasses
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml
from scripted_server import ScriptedServer

from pytest_toolgate import config, options
from pytest_toolgate.agents import agent_names
from pytest_toolgate.candidate.document import read_document
from pytest_toolgate.candidate.schema import KEYS
from pytest_toolgate.checks import check_names
from pytest_toolgate.cli.main import main as toolgate
from pytest_toolgate.config import Settings, read_settings
from pytest_toolgate.providers import provider_kinds
from pytest_toolgate.store import schema

from .pages import PAGES, REASONS, ROOT, Block, Output, blocks
from .played import PLAYED, tried

DOCS = ROOT / "docs"
PATIENCE = 60
_SETTINGS = {field.name for field in dataclasses.fields(Settings)}
_SECTIONS: Mapping[str, type] = {
    "providers": config.ProviderSettings,
    "retries": config.Retries,
    "prices": config.Prices,
    "verify": config.VerifySettings,
    "screens": config.ScreenSettings,
    "solve": config.SolveSettings,
    "budget": config.Budget,
    "domains": config.DomainSettings,
}
_REASONS = frozenset(
    {
        *("bad-yaml", "bad-schema", "bad-options", "equal-options", "close-options", "bad-answer", "duplicate"),
        *("too-large", "timeout", "exit-status", "killed", "no-answer", "many-answers", "unreadable", "mismatch"),
        *("ambiguous", "output-limit", "memory-limit", "disk-limit", "not-reproducible", "tool-unused", "too-easy"),
        *("wrong", "bad-answer-file", "tool-not-needed", "provider", "inconclusive", "environment", "agent"),
        *("sandbox", "budget", "interrupted", "not-run", "internal", "check", "basix-layout", "solver-convergence"),
    }
)


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running_server:
        running_server.script = PLAYED
        running_server.preflight = tried
        yield running_server


def _of(*languages: str) -> list[Any]:
    return [
        pytest.param(block, id=str(block)) for page in PAGES for block in blocks(page) if block.language in languages
    ]


# --- commands ---------------------------------------------------------------------------------------------


# Pages whose commands take half a minute.
_LONG = ("outcomes.md", "checks.md", "audits.md", "releases.md")


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, id=page.name, marks=[pytest.mark.slow] * (page.name in _LONG)) for page in PAGES],
)
def test_every_command_does_what_the_page_says(page: Path, server: ScriptedServer, tmp_path: Path) -> None:
    """In a fresh directory with the page's own files, and the examples it names in `<!-- examples: name -->`."""
    here = tmp_path / "bench"
    here.mkdir()
    for name in re.findall(r"^<!-- examples: (\w+) -->$", page.read_text("utf-8"), flags=re.MULTILINE):
        shutil.copytree(DOCS / "examples" / name, here, dirs_exist_ok=True)
    output = Output(here)
    for block in blocks(page):
        if block.file is not None:
            file = here / block.file
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, "utf-8")
        if block.language == "console" and block.not_run is None:
            _run(block, here, _environment(tmp_path, server.base_url), output)
        if block.language == "sql" and block.not_run is None:
            _query(block, here)
    if page.parent == DOCS:
        quoted = [block for block in blocks(page) if block.language == "text" and block.not_run is None]
        for block in quoted:
            missing = [line for line in block.text.splitlines() if not output.holds(line)]
            assert not missing, f"{block} quotes what no command of the page printed: {missing}"


def _run(block: Block, here: Path, environment: Mapping[str, str], all_output: Output) -> None:
    for command in block.commands():
        done = subprocess.run(
            ["bash", "-c", command.text],
            cwd=here,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=PATIENCE,
            check=False,
        )
        printed = done.stdout.decode()
        assert done.returncode == command.code, f"{block}: `{command.text}` ended with {done.returncode}:\n{printed}"
        output = Output(here)
        output.add(printed)
        all_output.add(printed)
        missing = [line for line in command.printed if not output.holds(line)]
        assert not missing, f"{block}: `{command.text}` did not print {missing}, but:\n{printed}"


def _environment(tmp_path: Path, url: str) -> dict[str, str]:
    """The user's own, but for what configures pytest or the plugin; what a page installs goes to a place of its own."""
    site = tmp_path / "site"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "TOOLGATE_"))}
    paths = [str(site), *filter(None, [kept.get("PYTHONPATH")])]
    return kept | {
        "PATH": f"{Path(sys.executable).parent}:{kept['PATH']}",
        "PYTHONPATH": ":".join(paths),
        "PIP_TARGET": str(site),
        "PIP_NO_BUILD_ISOLATION": "0",  # pip reads it as the value of `--build-isolation`
        "PIP_NO_DEPS": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_ROOT_USER_ACTION": "ignore",
        "PYTEST_ADDOPTS": "-p no:hypothesispytest -p no:anyio",  # they take half of a short session's time
        "MODEL_URL": url,
        "COLUMNS": "80",
        "NO_COLOR": "1",
    }


def _query(block: Block, here: Path) -> None:
    """A query runs on the database that the page's commands have left."""
    with closing(sqlite3.connect(f"file:{here / '.toolgate/toolgate.db'}?mode=ro", uri=True)) as connection:
        for statement in filter(str.strip, block.text.split(";")):
            rows = connection.execute(statement).fetchall()
            assert rows, f"{block}: the query finds nothing, so it shows nothing:\n{statement}"


def test_a_block_that_is_not_run_says_why() -> None:
    """One of few reasons: every other command is run."""
    for page in PAGES:
        for block in blocks(page):
            assert block.not_run is None or block.not_run in REASONS, f"{block}: `{block.not_run}` is no known reason"


# --- files ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", _of("yaml"))
def test_yaml(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A candidate passes lint, a configuration is read, and anything else is YAML."""
    monkeypatch.setenv("MODEL_URL", "http://127.0.0.1:8000/v1")
    keys = set(yaml.safe_load(block.text) or {})
    file = tmp_path / "block.yaml"
    file.write_text(block.text, "utf-8")
    if {"question", "solution"} <= keys:
        assert toolgate(["lint", str(file)]) == 0
    elif keys <= _SETTINGS:
        own = {name for other in blocks(block.page) if other.language == "toml" for name in _entry_points(other)}
        read_settings(
            file, kinds={*provider_kinds(), *own}, agents={*agent_names(), *own}, checks={*check_names(), *own}
        )
    elif keys <= set(KEYS):
        read_document(block.text, is_json=False)
    else:
        assert keys >= {True, "jobs"}, f"{block}: neither a candidate, nor a configuration, nor a workflow"


def _entry_points(block: Block) -> Iterator[str]:
    groups: Mapping[str, Mapping[str, str]] = tomllib.loads(block.text).get("project", {}).get("entry-points", {})
    for points in groups.values():
        yield from points


@pytest.mark.parametrize("block", _of("python", "toml", "json", "bash"))
def test_other_languages_are_at_least_well_formed(block: Block) -> None:
    if block.language == "python":
        ast.parse(block.text)
    elif block.language == "toml":
        tomllib.loads(block.text)
    elif block.language == "json":
        json.loads(block.text)
    else:
        subprocess.run(["bash", "-n"], input=block.text.encode(), check=True)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    """To a file of the repository and, where one is named, to a heading in it."""
    for target in re.findall(r"\]\(([^)\s]+)\)", _prose(page)):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.is_relative_to(ROOT), f"{page.name} links out of the repository: {target}"
        assert file.exists(), f"{page.name} links to {target}, which does not exist"
        assert not anchor or anchor in _anchors(file), f"{page.name} links to {target}, which has no such heading"


def _prose(page: Path) -> str:
    return re.sub(r"^ *```.*?^ *```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)


def _headings(page: Path) -> list[str]:
    return re.findall(r"^#+ (.+)$", _prose(page), flags=re.MULTILINE)


def _anchors(page: Path) -> set[str]:
    """As GitHub makes them."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in _headings(page)}


# --- names and defaults -----------------------------------------------------------------------------------


def test_every_outcome_and_reason_has_its_entry() -> None:
    headings = _headings(DOCS / "outcomes.md")
    entries = {name for heading in headings for name in re.findall(r"`([a-z-]+)`", heading)}
    assert {"accepted", "provisional", "rejected", "review", "error", *_REASONS} <= entries


def test_every_key_of_a_candidate_is_in_the_table() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", _prose(DOCS / "candidates.md"), flags=re.MULTILINE)
    assert set(KEYS) <= set(rows)


@pytest.mark.parametrize("section", _SECTIONS)
def test_every_key_of_the_configuration_has_its_default(section: str) -> None:
    """A row `| key | type | default | meaning |` below the heading of its section."""
    text = _prose(DOCS / "configuration.md")
    part = re.split(rf"^#+ `{section}`\n", text, flags=re.MULTILINE)[1]
    part = re.split(r"^#+ ", part, flags=re.MULTILINE)[0]
    rows = {row[0]: row[1] for row in re.findall(r"^\| `(\w+)` \|[^|]*\| ([^|]*?) \|", part, flags=re.MULTILINE)}
    fields = [
        field for field in dataclasses.fields(_SECTIONS[section]) if (section, field.name) != ("providers", "name")
    ]
    special = {"name": "the agent's"} if section == "solve" else {}
    assert rows == {field.name: _default(field) for field in fields} | special


def _default(field: "dataclasses.Field[Any]") -> str:
    if field.default_factory is not dataclasses.MISSING:
        return "see below" if dataclasses.is_dataclass(field.default_factory) else "none"
    if field.default is dataclasses.MISSING:
        return "required"
    if field.default in (None, "", ()):
        return "required" if field.default == "" else "none"
    shown = {True: "true", False: "false"}.get(field.default, field.default) if field.type is bool else field.default
    return f"`{shown:g}`" if isinstance(shown, float) else f"`{shown}`"


def test_every_option_is_documented() -> None:
    class Parser:
        """Takes what is declared."""

        def __init__(self) -> None:
            self.names: set[str] = set()

        def getgroup(self, *_: object) -> "Parser":
            return self

        def addoption(self, name: str, **_: object) -> None:
            self.names.add(name)

        def addini(self, name: str, *_: object, **__: object) -> None:
            self.names.add(name)

    parser = Parser()
    options.declare(parser)  # type: ignore[arg-type]  # all of pytest's parser that it uses
    text = _prose(DOCS / "configuration.md")
    assert not [name for name in parser.names if f"`{name}`" not in text]
    variables = {name.upper() for name in parser.names if not name.startswith("--")} - {"TOOLGATE_CANDIDATES"}
    assert not [name for name in variables if f"`{name}`" not in text]


def test_every_remedy_of_the_sandbox_is_in_the_page() -> None:
    text = _prose(DOCS / "sandbox-tiers.md")
    source = ast.parse((ROOT / "pytest_toolgate" / "sandbox" / "probe.py").read_text("utf-8"))
    constants = [node.value for node in ast.walk(source) if isinstance(node, ast.Constant)]
    advice = [text for text in constants if isinstance(text, str) and re.match("type: sudo|.* docker run ", text)]
    assert len(advice) >= 5
    assert not [remedy for remedy in advice if re.sub("^.*?: ", "", remedy) not in text]


def test_every_column_of_the_database_is_documented() -> None:
    text = _prose(DOCS / "database.md")
    parts = dict(re.findall(r"^### `(\w+)`\n(.*?)(?=^##|\Z)", text, flags=re.DOTALL | re.MULTILINE))
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(schema.TABLES)
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        assert sorted(parts) == sorted(tables)
        for table in tables:
            columns = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
            assert columns == set(re.findall(r"^\| `(\w+)` \|", parts[table], flags=re.MULTILINE)), table
