"""See what every module imports, be it loaded before or not. It must be there before all that it is to see."""

from __future__ import annotations

import builtins
import importlib
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType
    from typing import Any


class Witness:
    """Stands in for the interpreter's own import until it is told to stop."""

    def __init__(self) -> None:
        self.imports: dict[str, set[str]] = {}
        self._import = builtins.__import__
        self._import_module = importlib.import_module
        builtins.__import__ = self._see
        importlib.import_module = self._see_module

    def stop(self) -> Mapping[str, set[str]]:
        """What each module has imported."""
        builtins.__import__ = self._import
        importlib.import_module = self._import_module
        return self.imports

    def _see_module(self, name: str, package: str | None = None) -> ModuleType:
        module = self._import_module(name, package)
        self._note(sys._getframe(1).f_globals.get("__name__", ""), [module.__name__])
        return module

    def _see(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:  # noqa: ANN401 - the interpreter's own function
        result = self._import(name, globals, locals, fromlist, level)
        if globals and (importer := globals.get("__name__")):
            base = str(globals.get("__package__") or importer).rsplit(".", max(level - 1, 0))[0] if level else ""
            absolute = ".".join(filter(None, (base, name)))
            self._note(importer, [absolute, *(f"{absolute}.{item}" for item in fromlist or ())])
        return result

    def _note(self, importer: str, imported: list[str]) -> None:
        # Compiled modules import in the name of whoever loads them.
        if not importer.startswith("importlib._bootstrap"):
            self.imports.setdefault(importer, set()).update(imported)
