"""Hide what is loaded until a script imports it, so that an import does, shows and refuses what it would do otherwise.

Every module that a bare interpreter has not is put away, and the submodules of packages with it: a script that forgets
an import fails as it would fail for anybody else.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib.machinery import ModuleSpec, PathFinder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import ModuleType

# Where an interpreter finds these, no file can come before them.
_OF_THE_INTERPRETER = ("built-in", "frozen")
_OURS = __name__.partition(".")[0]


class Shelf:
    """Holds loaded modules until they are imported."""

    def __init__(
        self,
        bare: frozenset[str],
        watch: Sequence[str],
        on_import: Mapping[str, Callable[[], None]],
        imports: Mapping[str, set[str]],
    ) -> None:
        """Take everything out of sight; from now on an import finds a bare interpreter's modules, or loads anew.

        Done before the copies are made: every one of them would have to touch each module, and so have a copy of it.

        Args:
            bare: Names of the modules that every interpreter has at its start.
            watch: Top-level packages whose import is recorded.
            on_import: What a module does, once, when it is imported.
            imports: What each module imported, from `witness`.
        """
        self._watched = frozenset(watch)
        self._on_import = dict(on_import)
        self._held = {
            name: module
            for name, module in sys.modules.items()
            if name not in bare and type(module) is type(sys) and name.partition(".")[0] != _OURS
        }
        self._needs = {name: _needs(name, module, self._held, imports) for name, module in self._held.items()}
        self._record = ""
        for name, module in self._held.items():
            sys.modules.pop(name, None)
            package, _, own = name.rpartition(".")
            # `from package import module` would be content with the attribute, and import nothing.
            parent = self._held.get(package) or sys.modules.get(package)
            if package and vars(parent).get(own) is module:
                delattr(parent, own)
        for name in [name for name in sys.modules if name.partition(".")[0] == _OURS]:
            del sys.modules[name]

    def open(self, record: str) -> None:
        """From now on an import finds the modules here, and is noted in `record`."""
        self._record = record
        sys.meta_path.insert(0, self)

    def holds(self, packages: Sequence[str]) -> bool:
        """Whether the import of each of these would be noticed here."""
        return all(name in self._held for name in packages)

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """Part of the import system: whether it is here, and nothing else of that name comes before it."""
        if name not in self._held:
            return None
        ours = self._held[name].__spec__
        if ours is None or ours.origin in _OF_THE_INTERPRETER:
            return ModuleSpec(name, self)  # type: ignore[arg-type]  # a loader by its methods
        first = PathFinder.find_spec(name, path)
        if first is not None and first.origin != ours.origin:
            return None
        spec = ModuleSpec(name, self, origin=ours.origin)  # type: ignore[arg-type]  # as above
        spec.submodule_search_locations = ours.submodule_search_locations
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Part of the import system: the module, which was executed long ago, with all that it needs."""
        module = self._held[spec.name]
        spec.loader_state = module.__spec__
        taken = []
        waiting = [spec.name]
        while waiting:
            name = waiting.pop()
            if name in self._held:
                sys.modules[name] = self._held.pop(name)
                waiting += self._needs[name]
                taken.append(name)
        for name in taken:
            package, _, own = name.rpartition(".")
            if package and own not in vars(sys.modules[package]):
                setattr(sys.modules[package], own, sys.modules[name])
        for name in taken:
            self._note(name.partition(".")[0])
            if begin := self._on_import.pop(name, None):
                begin()
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Part of the import system: nothing is executed twice; only its own words about itself are put back."""
        if module.__spec__ is not None:
            module.__spec__ = module.__spec__.loader_state

    def _note(self, package: str) -> None:
        if package in self._watched:
            with suppress(OSError):
                os.close(os.open(f"{self._record}/{package}", os.O_CREAT | os.O_WRONLY, 0o600))


def _needs(name: str, module: ModuleType, held: Mapping[str, ModuleType], imports: Mapping[str, set[str]]) -> set[str]:
    """Modules that importing this one imports; of a compiled one, those whose things it has."""
    found = set(imports.get(name, ()))
    if not str(getattr(module.__spec__, "origin", "")).endswith(".py"):
        for value in vars(module).values():
            origin = value.__name__ if type(value) is type(sys) else getattr(value, "__module__", None)
            found.add(origin if type(origin) is str else "")
    for other in [name, *found]:
        while "." in other:  # a module's packages come before it
            other = other.rpartition(".")[0]
            found.add(other)
    return {other for other in found if other in held and other != name}
