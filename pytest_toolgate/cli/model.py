"""`toolgate model`: the embedded model's file, fetched once, before any run."""

import argparse
import json
import sys
from typing import Any

from ..providers.embedded import ModelError, fetch_model, find_model
from .errors import CommandError


def declare(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("model", help="get the embedded model, or say where it is")
    parser.add_argument("action", choices=("fetch", "show"), help="fetch: download it once; show: print where it is")
    parser.add_argument("--json", action="store_true", help="print as JSON")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Fetch or find the model file; 2 when there is none."""
    try:
        model = fetch_model(_progress) if options.action == "fetch" else find_model()
    except ModelError as error:
        raise CommandError(str(error)) from None
    found: dict[str, Any] = {
        "name": model.name, "path": str(model.path), "sha256": model.sha256, "source": model.source
    }  # fmt: skip
    print(json.dumps(found, indent=2) if options.json else "\n".join(f"{key}: {value}" for key, value in found.items()))
    return 0


def _progress(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
