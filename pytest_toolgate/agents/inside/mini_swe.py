"""Lets mini-swe-agent work on one task, by its Python interface, and prints what happens, one JSON object a line.

Runs on the agent's own Python, in the sandbox. Its command line asks questions and tells what happened at the end only,
which never comes where time is over.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from minisweagent.agents.default import DefaultAgent
from minisweagent.config import get_config_from_spec
from minisweagent.environments.local import LocalEnvironment
from minisweagent.models.litellm_model import LitellmModel

_KEPT = 4000  # characters


class _Telling(DefaultAgent):  # type: ignore[misc]  # it is not installed where types are checked
    def add_messages(self, *messages: dict[str, Any]) -> Any:  # noqa: ANN401 - the base's own
        for message in messages:
            _tell(message)
        return super().add_messages(*messages)


def _tell(message: dict[str, Any]) -> None:
    extra = message.get("extra") or {}
    told = {
        "role": message.get("role"),
        "text": str(message.get("content") or "")[:_KEPT],
        "commands": [str(action.get("command"))[:_KEPT] for action in extra.get("actions") or []],
        "exit_code": extra.get("returncode"),
        "exit_status": extra.get("exit_status"),
    }
    print(json.dumps({key: value for key, value in told.items() if value not in (None, [])}), flush=True)


def main(path: Path) -> None:
    """Work on the task that the file says."""
    told = json.loads(path.read_text("utf-8"))
    config = get_config_from_spec("mini.yaml")
    model = LitellmModel(**{
        **config["model"],
        "model_name": told["model"],
        "model_kwargs": {**config["model"].get("model_kwargs", {}), **told["model_kwargs"]},
    })  # fmt: skip
    env = LocalEnvironment(**{**config["environment"], "timeout": told["timeout"]})
    # What it raises it has told as its last message; and nothing of what its libraries do at an exit is worth its time.
    try:
        _Telling(model, env, **{**config["agent"], "cost_limit": 0.0}).run(told["task"])
    finally:
        os._exit(0)


main(Path(sys.argv[1]))
