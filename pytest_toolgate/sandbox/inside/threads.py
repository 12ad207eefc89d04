"""Set the number of threads of libraries that read it from the environment when they are loaded, and never again."""
# ruff: noqa: PTH123

from __future__ import annotations

import ctypes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

# What a library's file is called -> its variable, and the functions one of which it has.
_LIBRARIES = {
    "openblas": (
        "OPENBLAS_NUM_THREADS",
        ("openblas_set_num_threads", "scipy_openblas_set_num_threads64_", "scipy_openblas_set_num_threads"),
    ),
    "libgomp": ("OMP_NUM_THREADS", ("omp_set_num_threads",)),
}


class Threads:
    """The functions of the loaded libraries."""

    def __init__(self) -> None:
        self._setters = list(_setters())

    def set(self, environment: Mapping[str, str]) -> None:
        """Set what the environment says, where it is not the one that every warm process is started with."""
        for variable, function in self._setters:
            number = environment.get(variable, "1")
            if number.isdigit() and number != "1":
                function(int(number))


def _setters() -> Iterator[tuple[str, Callable[[int], object]]]:
    with open("/proc/self/maps") as stream:
        files = {line.split(maxsplit=5)[5].strip() for line in stream if "/" in line}
    for file in sorted(files):
        for part, (variable, names) in _LIBRARIES.items():
            if part not in file.rpartition("/")[2]:
                continue
            library = ctypes.CDLL(file)
            for name in names:
                if hasattr(library, name):
                    yield variable, getattr(library, name)
                    break
