"""What no verification can beat: each script in a fork of one process that has everything imported and MPI started.

    XDG_CACHE_HOME=... python bench/verify_limit.py DIRECTORY [at once]

Nothing is isolated, limited or recorded. Prints, as JSON, the answer of every `item-*.py` of the directory and the times of
its start and end. The cache keeps what the scripts compile: a second run with it finds all forms compiled.
"""

import importlib
import json
import os
import sys
import tempfile
import time
import warnings
from pathlib import Path

# What every script imports, in the order that the wheel wants.
_LOADED_BEFORE = (
    *("dolfinx_solver", "mpi4py.MPI", "numpy", "ufl", "cffi"),
    *("ffcx.codegeneration.jit", "dolfinx.fem.petsc", "dolfinx.mesh"),
)


def main(directory: str, at_once: str = "2") -> None:
    """Run all scripts and print what came of them."""
    for name in _LOADED_BEFORE:
        importlib.import_module(name)
    warnings.filterwarnings("ignore", message=".*multi-threaded, use of fork")  # MPI's thread has nothing to do here
    waiting = sorted(Path(directory).glob("item-*.py"))
    found: dict[str, dict[str, object]] = {}
    running: dict[int, tuple[Path, Path, float]] = {}
    with tempfile.TemporaryDirectory(prefix="toolgate-bench-") as temporary:
        while waiting or running:
            while waiting and len(running) < int(at_once):
                script = waiting.pop(0)
                place = Path(temporary, script.stem)
                place.mkdir()
                begun = time.time()
                running[_fork(script, place)] = script, place, begun
            child, status = os.wait()
            script, place, begun = running.pop(child)
            lines = (place / "stdout").read_text("utf-8").splitlines()
            answers = [line.removeprefix("ANSWER:").strip() for line in lines if line.startswith("ANSWER:")]
            if status or len(answers) != 1:
                raise SystemExit(f"{script.stem}: wait status {status}, answers {answers}")
            found[script.stem] = {"answer": answers[0], "begun": begun, "ended": time.time()}
    print(json.dumps(found))


def _fork(script: Path, place: Path) -> int:
    program = script.read_bytes()
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        os.chdir(place)
        os.dup2(os.open("stdout", os.O_WRONLY | os.O_CREAT, 0o600), 1)
        exec(compile(program, script.name, "exec"), {"__name__": "__main__"})  # noqa: S102 - the script is what is measured
        sys.stdout.flush()
        status = 0
    except BaseException as problem:  # noqa: BLE001 - the copy must never return into the code above
        print(f"{script.name}: {problem!r}", file=sys.stderr)
    finally:
        os._exit(status)


if __name__ == "__main__":
    main(*sys.argv[1:])
