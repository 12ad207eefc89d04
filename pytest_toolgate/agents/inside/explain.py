"""Says more about an exception: the signatures of what the failing line called.

A model that cannot look into documentation repeats a wrong call; a signature is what a person would look up.
Imported by the agent's script, inside the sandbox. Standard library only, Python 3.8 syntax.
"""

import difflib
import inspect
import linecache
import re
import sys
import traceback
from types import TracebackType
from typing import Any, List, Optional, Tuple, Type

_CALLED = re.compile(r"([A-Za-z_][\w.]*)\s*\(")
_MOST = 4


def explain(kind: Type[BaseException], value: BaseException, trace: Optional[TracebackType]) -> None:
    """Print the traceback, then what a person would look up for the failing line of the script."""
    traceback.print_exception(kind, value, trace)
    for name, target in _near_names(value) or _called(trace):
        try:
            signature = str(inspect.signature(target))
            about = (inspect.getdoc(target) or "").split("\n\n")[0].replace("\n", " ")
        except Exception:  # noqa: BLE001, S112 - nothing to say about this one
            continue
        if getattr(target, "__module__", "") not in ("builtins", None):
            print("NOTE: {}{}: {}".format(name, signature[:300], about[:200]), file=sys.stderr)


def _near_names(value: BaseException) -> List[Tuple[str, Any]]:
    """Attributes whose names are like the one that is missing."""
    owner, wanted = getattr(value, "obj", None), getattr(value, "name", None)
    if not isinstance(value, AttributeError) or owner is None or not wanted:
        return []
    public = [name for name in dir(owner) if not name.startswith("_")]
    near = [name for name in public if wanted.lower() in name.lower() or name.lower() in wanted.lower()]
    near += difflib.get_close_matches(wanted, public, n=_MOST, cutoff=0.6)
    return [(name, getattr(owner, name)) for name in list(dict.fromkeys(near))[:_MOST]]


def _called(trace: Optional[TracebackType]) -> List[Tuple[str, Any]]:
    """The functions called in the script's own failing line."""
    frames = [step for step in traceback.walk_tb(trace) if step[0].f_code.co_filename.endswith("solution.py")]
    if not frames:
        return []
    frame, line = frames[-1]
    found = []
    for name in list(dict.fromkeys(_CALLED.findall(linecache.getline(frame.f_code.co_filename, line))))[:_MOST]:
        try:
            found.append((name, eval(name, frame.f_globals, frame.f_locals)))
        except Exception:  # noqa: BLE001, S112 - not a name that stands for anything
            continue
    return found


sys.excepthook = explain
