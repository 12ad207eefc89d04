"""Where namespaces are not to be had: jobs run as root without CAP_SYS_ADMIN, and as an ordinary user."""

import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_toolgate.sandbox import Finished, Limits, SandboxError

USER = "65533"
WHO = ["root", USER] if os.geteuid() == 0 else ["self"]
LIMITS = frozenset(Limits.__dataclass_fields__)
_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A user without namespaces, who has a home.

    Attributes:
        who: `root`, an id, or `self`: whoever runs the tests, who is not root.
        home: The home, writable for that user.
    """

    who: str
    home: Path

    def command(self, *command: str | Path) -> list[str]:
        """The command, as this user runs it there."""
        return [sys.executable, str(_HERE / "deprived.py"), self.who, *map(str, command)]

    def environment(self) -> Mapping[str, str]:
        """What it is run with."""
        paths = [str(_HERE.parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
        return {"HOME": str(self.home), "PATH": os.environ["PATH"], "PYTHONPATH": ":".join(paths)}

    def give(self, path: Path) -> Path:
        """Make the user the owner."""
        if self.who == USER:
            os.chown(path, int(USER), int(USER))
        return path

    def start(self, text: str, **given: Any) -> subprocess.Popen[bytes]:  # noqa: ANN401 - passed on as they are
        """Start a job; keywords are limits (60 seconds unless given) or fields of the job."""
        limits = {"wall": 60.0, **{name: given.pop(name) for name in LIMITS & given.keys()}}
        process = subprocess.Popen(
            self.command(sys.executable, _HERE / "one_job.py"),
            env=self.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert process.stdin is not None
        process.stdin.write(pickle.dumps((textwrap.dedent(text).encode(), limits, given)))
        process.stdin.close()
        return process

    def run(self, text: str, **given: Any) -> Finished:  # noqa: ANN401 - passed on as they are
        """Run a job to its end.

        Raises:
            SandboxError: As the job did.
        """
        process = self.start(text, **given)
        assert process.stdout is not None
        result = pickle.load(process.stdout)
        process.stdout.close()
        assert process.wait() == 0
        if isinstance(result, SandboxError):
            raise result
        assert isinstance(result, Finished)
        return result


@contextmanager
def somebody(who: str) -> Iterator[Elsewhere]:
    """A user with a home that is gone afterwards; others can come to it, as to a home of many systems."""
    home = Path(tempfile.mkdtemp(prefix="toolgate-home-"))
    home.chmod(0o755)
    user = Elsewhere(who, home)
    user.give(home)
    try:
        yield user
    finally:
        shutil.rmtree(home)
