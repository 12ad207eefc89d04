"""Takes the place of a script: executes the instrumentation, then the script itself, as if nobody had been there.

`SOURCE`, `UNDER`, `TOLD` and `MARK` are put before this text. What is reported goes to stderr at once, as a line of its
own that begins with the mark: whatever becomes of the script, it is there.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

    SOURCE: str
    UNDER: str
    TOLD: "dict[str, Any]"
    MARK: str


def _begin() -> "CodeType":
    import json
    import linecache
    import os
    import sys
    from types import ModuleType

    descriptor, mark = os.dup(2), MARK

    def report(**values: object) -> None:
        os.write(descriptor, ("\n" + mark + " " + json.dumps(values) + "\n").encode())

    with open(__file__, "w", encoding="utf-8", newline="") as file:  # noqa: PTH123 - a script may read itself
        file.write(SOURCE)
    linecache.cache[__file__] = (len(SOURCE), None, SOURCE.splitlines(keepends=True), __file__)
    instrument = ModuleType("toolgate_instrument")
    instrument.__dict__.update(report=report, TOLD=TOLD)
    sys.modules["toolgate_instrument"] = instrument
    exec(compile(UNDER, "<instrument>", "exec", dont_inherit=True), instrument.__dict__)
    report(begun=True)
    script = compile(SOURCE, __file__, "exec", dont_inherit=True)
    for name in ("SOURCE", "UNDER", "TOLD", "MARK", "TYPE_CHECKING", "_begin"):
        del globals()[name]
    globals()["__doc__"] = None
    return script


exec(_begin())
