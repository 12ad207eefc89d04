"""Where packages lie: all of them that a Python, or another one seen beside it, could import. Nothing is imported.

Started by the interpreter itself with the names of the packages; prints their paths as JSON, with those of the metadata
of the distributions that hold them and of what leads to them, where they are installed from a folder elsewhere.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from importlib import metadata
from importlib.machinery import PathFinder
from pathlib import Path
from urllib.parse import unquote, urlsplit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence
    from importlib.machinery import ModuleSpec

_KINDS = ("site-packages", "dist-packages")
_LEAD_ELSEWHERE = ("__editable__", "_editable_impl_")


def folders() -> list[Path]:
    """Directories in which packages are looked for, those of environments within environments included."""
    found = [Path(path) for path in sys.path if path]
    for root in sorted({sys.base_prefix, sys.base_exec_prefix, sys.prefix, sys.exec_prefix, "/usr"}):
        for folder, names, _ in os.walk(root):
            found += [Path(folder, kind) for kind in _KINDS if kind in names]
            # What is installed is most of an environment, and holds no other.
            names[:] = [name for name in names if name not in _KINDS]
    return [folder for folder in dict.fromkeys(path.resolve() for path in found) if folder.is_dir()]


def places(spec: ModuleSpec | None) -> Iterator[Path]:
    """The directories of a package, or the file of a module; links to them stay links."""
    if spec is None:
        return
    found = spec.submodule_search_locations
    for text in (spec.origin,) if found is None else found:
        path = Path(str(text))
        if path.is_absolute():
            yield path.parent.resolve() / path.name


def traces(distribution: metadata.Distribution, packages: Container[str], elsewhere: Iterable[Path]) -> Iterator[Path]:
    """The metadata of a distribution that holds one of the packages, and what leads to it; else nothing.

    Args:
        distribution: The distribution.
        packages: The names of the packages.
        elsewhere: Where they lie, if not among installed ones.
    """
    place = getattr(distribution, "_path", None)
    if place is None:
        return
    names = {file.parts[0] for file in distribution.files or () if file.parts}
    names |= set((distribution.read_text("top_level.txt") or "").split())
    # A module has an ending, a compiled one several.
    if any(name.partition(".")[0] in packages for name in names) or holds(distribution, elsewhere):
        yield Path(place)
        for name in names:
            if name.startswith(_LEAD_ELSEWHERE):
                yield Path(place).parent / name


def holds(distribution: metadata.Distribution, elsewhere: Iterable[Path]) -> bool:
    """Whether it was installed from a folder that one of the packages lies in."""
    try:
        url = urlsplit(json.loads(distribution.read_text("direct_url.json") or "{}").get("url", ""))
    except ValueError:
        return False
    return url.scheme == "file" and any(Path(unquote(url.path)).resolve() in path.parents for path in elsewhere)


def main(packages: Sequence[str]) -> None:
    """Print what was found."""
    looked_into = folders()
    specs = [importlib.util.find_spec(name) for name in packages]
    specs += [PathFinder.find_spec(name, [str(folder)]) for name in packages for folder in looked_into]
    found = {path for spec in specs for path in places(spec)}
    elsewhere = [path.resolve() for path in found if path.parent.name not in _KINDS]
    for distribution in metadata.distributions(path=[str(folder) for folder in looked_into]):
        found |= set(traces(distribution, packages, elsewhere))
    print(json.dumps(sorted(map(str, found))))


main(sys.argv[1:])
