"""Command line options, their ini options and environment variables: CLI > environment > ini > default."""

import os
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

_CONFIG = "toolgate.yaml"


@dataclass(frozen=True, slots=True)
class _Option:
    name: str
    default: str
    help: str
    flag: bool = False


_OPTIONS = (
    _Option("config", _CONFIG, "configuration file"),
    _Option("gates", "", "gates to pass, e.g. lint,verify (default: all that are configured)"),
    _Option("db", ".toolgate/toolgate.db", "database of all attempts"),
    _Option("accepted", "accepted", "directory of accepted items"),
    _Option("seed", "0", "seed of every shuffle"),
    _Option("fresh", "", "reuse no recorded reply or agent run", flag=True),
    _Option("all-screens", "", "ask all screens after a rejection, and all solvers", flag=True),
    _Option("audit", "", "name of the audit that this run is: accepted items are neither written nor removed"),
    _Option("dry-run", "", "run nothing, and say how many calls a run would make and what they cost", flag=True),
)


def declare(parser: pytest.Parser) -> None:
    """Add all options to pytest's parser."""
    group = parser.getgroup("toolgate", "benchmark candidates (pytest-toolgate)")
    parser.addini(
        "toolgate_candidates", "directories of candidate files, relative to the rootdir", default="candidates"
    )
    for option in _OPTIONS:
        ini = _ini(option.name)
        if option.flag:
            group.addoption(f"--toolgate-{option.name}", action="store_true", default=None, help=option.help)
            parser.addini(ini, option.help, type="bool", default=False)
        else:
            more = f" (default: {option.default})" if option.default else ""
            group.addoption(
                f"--toolgate-{option.name}", default=None, metavar=option.name.upper(), help=option.help + more
            )
            parser.addini(ini, option.help, default=None)


def text(config: pytest.Config, name: str) -> str:
    """The value of an option, from wherever it is set."""
    option = next(option for option in _OPTIONS if option.name == name)
    for value in (
        config.getoption(f"toolgate_{name.replace('-', '_')}"),
        os.environ.get(_ini(name).upper()),
        config.getini(_ini(name)),
    ):
        if value not in (None, ""):
            return str(value)
    return option.default


def flag(config: pytest.Config, name: str) -> bool:
    """Whether a flag is set anywhere.

    Raises:
        pytest.UsageError: The environment variable is neither yes nor no.
    """
    if config.getoption(f"toolgate_{name.replace('-', '_')}"):
        return True
    variable = _ini(name).upper()
    given = os.environ.get(variable, "").lower()
    if given:
        if given not in ("0", "1", "true", "false", "yes", "no"):
            raise pytest.UsageError(f"the environment variable {variable} must be 1 or 0, not `{given}`")
        return given in ("1", "true", "yes")
    return bool(config.getini(_ini(name)))


def seed(config: pytest.Config) -> int:
    """The run seed.

    Raises:
        pytest.UsageError: It is not a whole number, or too large for the database.
    """
    given = text(config, "seed")
    if not re.fullmatch(r"-?[0-9]{1,18}", given):
        raise pytest.UsageError(f"--toolgate-seed must be a whole number of at most 18 digits, not `{given[:60]}`")
    return int(given)


def path(config: pytest.Config, name: str) -> Path:
    """The value of a path option, relative to the rootdir."""
    return config.rootpath / Path(text(config, name)).expanduser()


def config_file(config: pytest.Config) -> Path | None:
    """The configuration file, None when none is named and the default one is not there.

    Raises:
        pytest.UsageError: A file is named that does not exist.
    """
    file = path(config, "config")
    if file.is_file():
        return file
    if text(config, "config") != _CONFIG:
        raise pytest.UsageError(f"the configuration file {file} does not exist")
    return None


def candidate_directories(config: pytest.Config) -> list[Path]:
    """What the ini option `toolgate_candidates` names, as written.

    Raises:
        pytest.UsageError: Its quotes do not match.
    """
    try:
        return [Path(part) for part in shlex.split(config.getini("toolgate_candidates"))]
    except ValueError as error:
        raise pytest.UsageError(f"toolgate_candidates: {error}") from None


def _ini(name: str) -> str:
    return f"toolgate_{name.replace('-', '_')}"
