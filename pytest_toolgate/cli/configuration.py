"""The configuration as the commands read it: the file named, or `toolgate.yaml` where there is one."""

import argparse
import os
from pathlib import Path

from ..agents import agent_names
from ..checks import check_names
from ..config import ConfigError, Settings, read_settings
from ..providers import provider_kinds
from .errors import CommandError

DEFAULT = Path("toolgate.yaml")


def add_option(parser: argparse.ArgumentParser) -> None:
    """Add `--config`."""
    parser.add_argument(
        "--config", type=Path, help=f"configuration file (default: TOOLGATE_CONFIG, or {DEFAULT} where there is one)"
    )


def read(options: argparse.Namespace) -> Settings:
    """The settings.

    Raises:
        CommandError: They cannot be read.
    """
    named = os.environ.get("TOOLGATE_CONFIG")
    file: Path | None = options.config or (Path(named) if named else None)
    if file is None and not DEFAULT.is_file():
        return Settings()
    try:
        return read_settings(file or DEFAULT, kinds=provider_kinds(), agents=agent_names(), checks=check_names())
    except ConfigError as error:
        raise CommandError(str(error)) from None
