"""Run a script in a copy of a process that has its software loaded, as the interpreter would have run it from a start.

What differs from a start: the software is in memory before it is imported, every script sees the same addresses, and
the hash seed is that of the process that was copied.
"""
# ruff: noqa: PTH123

from __future__ import annotations

import atexit
import ctypes
import gc
import os
import signal
import sys
import threading
from importlib.machinery import SourceFileLoader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any, Never, TextIO

    from pytest_toolgate.sandbox.inside.software import Software


def begin(task: dict[str, Any], failed: int, software: Software, path: list[str]) -> Never:
    """Be the script, until the end of the process.

    Args:
        task: The supervisor's.
        failed: Descriptor whose end tells the supervisor that this process is the script now.
        software: What is loaded.
        path: Where modules are looked for, but for the script's own directory.
    """
    os.environ.clear()
    os.environ.update(task["env"])
    sys.argv = ["solution.py"]
    sys.orig_argv = list(task["command"])
    added = [entry for entry in task["env"].get("PYTHONPATH", "").split(":") if entry not in ("", task["site"])]
    sys.path[:] = [task["work"], *added, *path]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # as every Python begins
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    file = f"{task['work']}/solution.py"
    with open(file, "rb") as stream:
        source = stream.read()
    software.begin(task)
    os.close(failed)
    main = type(sys)("__main__")
    main.__dict__.update(
        __file__=file,
        __cached__=None,
        __annotations__={},
        __builtins__=__builtins__,
        __loader__=SourceFileLoader("__main__", file),
    )
    sys.modules["__main__"] = main
    status = _status_of(source, file, main.__dict__)
    _flush(sys.stderr)
    _flush(sys.stdout)
    _end(status, software)


def _end(status: int, software: Software) -> Never:
    """End as the interpreter does, but for taking every module apart: that is most of what a short script costs."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    failure = _flush(sys.stdout)
    if failure is not None:
        print(f"Exception ignored in: {sys.stdout!r}\n{type(failure).__name__}: {failure}", file=sys.stderr)
    if _flush(sys.stderr) or failure:
        status = 120  # the interpreter's own word for it
    _take_apart()
    software.end()
    ctypes.CDLL(None).exit(status)
    raise AssertionError("a process goes on after its end")


def _take_apart() -> None:
    """Let go of what the script has made, so that its files are closed and its objects have their last words."""
    vars(sys.modules["__main__"]).clear()
    gc.collect()  # what was loaded before is frozen, and not looked at
    for stream in (sys.__stderr__, sys.__stdout__):
        _flush(stream)


def _flush(stream: TextIO | None) -> Exception | None:
    try:
        if stream is not None and not getattr(stream, "closed", False):
            stream.flush()
    except Exception as error:  # noqa: BLE001 - whatever a script has put there
        return error
    return None


def _status_of(source: bytes, file: str, names: dict[str, Any]) -> int:
    """Run the source and return its exit status, having printed what the interpreter would print."""
    try:
        exec(compile(source, file, "exec", dont_inherit=True), names)  # noqa: S102 - that is what all this is for
    except SystemExit as end:
        return _status(end.code)
    except BaseException as error:  # noqa: BLE001 - the interpreter prints any
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code is _status_of.__code__:
            trace = trace.tb_next
        sys.last_exc = error.with_traceback(trace)
        _report(error, trace)
        if isinstance(error, KeyboardInterrupt):
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
        return 1
    return 0


def _report(error: BaseException, trace: TracebackType | None) -> None:
    try:
        sys.excepthook(type(error), error, trace)
    except BaseException as second:  # noqa: BLE001 - a script's own hook
        second.__context__ = None
        second.__traceback__ = second.__traceback__ and second.__traceback__.tb_next
        print("Error in sys.excepthook:", file=sys.stderr)
        sys.__excepthook__(type(second), second, second.__traceback__)
        print("\nOriginal exception was:", file=sys.stderr)
        sys.__excepthook__(type(error), error, trace)


def _status(code: object) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    print(code, file=sys.stderr)
    return 1
