"""The target software of a warm process: loaded once, and made a script's own in each copy."""

from __future__ import annotations

import importlib
import sys

from pytest_toolgate.sandbox.inside.shelf import Shelf
from pytest_toolgate.sandbox.inside.threads import Threads
from pytest_toolgate.sandbox.inside.tool_calls import watch_calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType
    from typing import Any

    from pytest_toolgate.sandbox.inside.witness import Witness


class Software:
    """What is loaded, and how a copy of the process makes it a script's own."""

    def __init__(
        self, bare: frozenset[str], witness: Witness, hook: str, preload: Sequence[str], watch: Sequence[str]
    ) -> None:
        """Import everything.

        Args:
            bare: Names of the modules that every interpreter has at its start.
            witness: Of all imports since then.
            hook: Source of the domain's own module: `load()` is called here; `ON_IMPORT` says what a module does, once,
                when a script imports it; `end()` is called at a script's end. Empty for none.
            preload: Modules to import.
            watch: Top-level packages whose import by the script is recorded.

        Raises:
            Exception: Whatever the imports raise.
        """
        self.hook: ModuleType | None = None
        if hook:
            self.hook = type(sys)("toolgate_warm_start")
            exec(compile(hook, "<warm start>", "exec"), self.hook.__dict__)  # noqa: S102 - the domain's own
            getattr(self.hook, "load", _nothing)()
        for name in preload:
            importlib.import_module(name)
        if "numpy" in sys.modules:
            importlib.import_module("numpy.random")  # which it puts off until it is used
        self.threads = Threads()
        self.random = sys.modules.get("numpy.random")
        self.shelf = Shelf(bare, watch, getattr(self.hook, "ON_IMPORT", {}), witness.stop())

    def begin(self, task: dict[str, Any]) -> None:
        """Make it this process's own: what was not to be begun before the copy is begun now."""
        if self.random:
            self.random.seed()  # or every copy would draw the same numbers
        self.threads.set(task["env"])
        if not self.shelf.holds(task["watch"]):
            # What is not loaded yet is noticed by the hook that every other Python of the sandbox has.
            exec(compile(task["watching"], "<tool use>", "exec"), {"__name__": "sitecustomize"})  # noqa: S102 - ours
        watch_calls(task["watch"], task["places"], task["used"])
        self.shelf.open(task["used"])

    def end(self) -> None:
        """End what the script's imports began."""
        getattr(self.hook, "end", _nothing)()


def _nothing() -> None:
    """What a hook does that says nothing."""
