"""A controlling process to be killed: starts a launcher, needs the server, says its pid, then does as told.

Arguments: run directory, `fake` or `real`, and what to do at the end: `wait`, `raise`, `fork`, `load`.
"""

import os
import sys
import time
from pathlib import Path

from launching import fake_launch

from pytest_toolgate.providers.embedded.endpoint import request_path
from pytest_toolgate.providers.embedded.launcher import Launcher, Supervisor, connect


def main() -> None:
    directory, kind, ending = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    launcher = (
        Launcher(directory, "local")
        if kind == "real"
        else Supervisor(directory, "local", lambda: fake_launch(directory))
    )
    launcher.start()
    if ending == "load":
        request_path(directory, "local").touch()
    else:
        connect(directory, "local")
    if ending == "fork" and os.fork() == 0:
        # A child that inherits the server's pipe, as a forking test would.
        time.sleep(20)
        os._exit(0)
    print("up", flush=True)
    if ending == "raise":
        raise RuntimeError("the run broke")
    time.sleep(600)


if __name__ == "__main__":
    main()
