"""Record which watched packages are executed. Loaded by every Python in the sandbox through PYTHONPATH.

The last lines, calls of what is defined here, are added by `tool_use.py`. It must cost next to nothing:
an audit hook is called for very many events, so it looks at the event's name and returns.
"""
# pathlib and contextlib would cost every run more milliseconds than all that is done here.
# ruff: noqa: PTH100, PTH120, SIM105

import os
import sys


def _watch(names: "list[str]", prefixes: "list[str]", record: str) -> None:
    pending = set(names)
    # An environment reached through a link names its files by that link.
    aliases = [alias for alias in (sys.prefix, sys.base_prefix) if os.path.realpath(alias) in prefixes]
    homes = tuple(prefix.rstrip("/") + "/" for prefix in [*prefixes, *aliases])

    def hook(event: str, args: "tuple[object, ...]") -> None:
        if not pending:
            return
        if event == "exec":
            path = getattr(args[0], "co_filename", "")
        elif event == "import":
            path = args[1]  # only compiled modules have one here
        else:
            return
        if type(path) is not str or not path.startswith(homes):
            return
        for folder in ("/site-packages/", "/dist-packages/"):
            if folder in path:
                name = path.rpartition(folder)[2].partition("/")[0].partition(".")[0]
                if name in pending:
                    pending.discard(name)
                    try:
                        os.close(os.open(record + "/" + name, os.O_CREAT | os.O_WRONLY, 0o600))
                    except OSError:
                        pass

    sys.addaudithook(hook)


def _continue_with_the_environments_own() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if entry != here]
    ours = sys.modules.pop("sitecustomize")
    try:
        __import__("sitecustomize")
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
        sys.modules["sitecustomize"] = ours
