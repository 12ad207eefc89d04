"""Record which watched packages are called by code that lies in no environment: the script's, or an agent's.

The interpreter reports calls (PEP 669) from that code alone, from the moment it is first executed. What libraries do
among themselves is not looked at, and costs nothing. This must see and never disturb: no attribute is read that a
stranger's class computes, and no fault of ours reaches the script.
"""
# ruff: noqa: ANN401

import os
import sys
from _weakref import ref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

_TOOL = 4  # of the numbers that the interpreter leaves to anybody
_TURNS = 16  # calls looked at in one place of the code, which may be in a loop
_TYPED_IN = ("<stdin>", "<console>", "<ipython", "<timeit")
_FOLDERS = ("/site-packages/", "/dist-packages/")
_FUNCTION = type(lambda: 0)
_CODE = type((lambda: 0).__code__)
_METHOD = type(type("", (), {"f": lambda self: 0})().f)
# What a class says of itself, whatever its metaclass says.
_dict, _mro, _module = (type.__dict__[name].__get__ for name in ("__dict__", "__mro__", "__module__"))
_LOOKED_AT = ("__getattr__", "__getattribute__", "__module__", "__objclass__", "__self__")
_COMPUTED = (_FUNCTION, property)


def watch_calls(names: "list[str]", places: "list[str]", record: str) -> None:
    """Begin to watch.

    Args:
        names: Top-level packages.
        places: Prefixes of the environments; nothing below them is the script's.
        record: Directory that gets a file `<package>.called` for each.
    """
    monitoring = getattr(sys, "monitoring", None)  # since Python 3.12
    if not names or monitoring is None or monitoring.get_tool(_TOOL) is not None:
        return
    aliases = [alias for alias in (sys.prefix, sys.base_prefix) if os.path.realpath(alias) in places]
    homes = tuple(place.rstrip("/") + "/" for place in [*places, *aliases])
    pending = set(names)
    # A script may make code without end, as by eval in a loop, so none is kept alive: by its id, until it is gone, with
    # the number of times that each place in it was looked at.
    armed: dict[int, tuple[ref[CodeType], dict[int, int]]] = {}

    def hook(event: str, args: "tuple[Any, ...]") -> None:
        if event == "exec" and pending and type(args[0]) is _CODE and is_own(args[0], sys._getframe(0).f_back):
            arm(args[0])

    def is_own(code: "CodeType", by: "FrameType | None") -> bool:
        file = code.co_filename
        if not file.startswith("<"):
            return not file.startswith(homes)
        # Source without a file is whose code has it executed: libraries generate some.
        own = by is None or id(by.f_code) in armed or not by.f_code.co_filename.startswith(("<", *homes))
        return own or file.startswith(_TYPED_IN)

    def arm(code: "CodeType") -> None:
        key = id(code)
        if key not in armed:
            armed[key] = ref(code, lambda _: armed.pop(key, None)), {}
        monitoring.set_local_events(_TOOL, code, monitoring.events.CALL)
        for constant in code.co_consts:
            if type(constant) is _CODE:
                arm(constant)

    def seen(code: "CodeType", offset: int, called: "Any", first: "Any") -> object:
        if not pending:
            return monitoring.DISABLE
        try:
            for name in pending & owners(first if called is map or called is filter else called):
                pending.discard(name)
                os.close(os.open(f"{record}/{name}.called", os.O_CREAT | os.O_WRONLY, 0o600))
        except Exception:  # noqa: BLE001 - whatever a stranger's object does
            pass
        _, turns = armed.get(id(code), (None, {offset: _TURNS}))
        turns[offset] = turns.get(offset, 0) + 1
        return None if turns[offset] < _TURNS else monitoring.DISABLE

    def owners(called: "Any") -> "set[str]":
        """The packages, of those whose own files are loaded, that a called object comes from."""
        found = _holders(called) or _modules(called)
        named = {name.partition(".")[0] for name in found if type(name) is str}
        return {name for name in pending & named if is_loaded(name)}

    def is_loaded(name: str) -> bool:
        file = getattr(getattr(sys.modules.get(name), "__spec__", None), "origin", None)
        return type(file) is str and file.startswith(homes) and any(f"{folder}{name}" in file for folder in _FOLDERS)

    monitoring.use_tool_id(_TOOL, "toolgate")
    monitoring.register_callback(_TOOL, monitoring.events.CALL, seen)
    sys.addaudithook(hook)


def _modules(called: "Any") -> "list[object]":
    """Names of the modules in which a called object, or its class, is defined."""
    if type(called) is _METHOD:
        called = called.__func__
    kind = type(called)
    if kind is _FUNCTION:
        return [called.__module__]
    if issubclass(kind, type):
        return _defined(called)
    found = _defined(kind)
    if not any(type(_dict(each).get(name)) in _COMPUTED for each in _mro(kind) for name in _LOOKED_AT):
        found.append(getattr(called, "__module__", None))  # functions made in C, above all
        for owner in (getattr(called, "__objclass__", None), type(getattr(called, "__self__", None))):
            found += _defined(owner) if isinstance(owner, type) else []
    return found


def _defined(kind: type) -> "list[object]":
    return [_module(each) for each in _mro(kind)]


def _holders(called: "Any") -> "list[object]":
    """Names of the modules that hold a ufunc; that it is NumPy's kind of function does not make it NumPy's."""
    numpy = vars(sys.modules["numpy"]) if "numpy" in sys.modules else {}
    if type(called) is not numpy.get("ufunc") or numpy.get(called.__name__) is called:
        return []
    modules = [(name, module) for name, module in list(sys.modules.items()) if type(module) is type(sys)]
    return [name for name, module in modules if vars(module).get(called.__name__) is called]
