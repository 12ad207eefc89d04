"""What Harbor is given in place of Docker and of a hosted model: a room of bubblewrap, and an agent that asks a server.

Harbor imports this file. The room has Python and the files that the task's Dockerfile copies, and no network; it takes
the place of the image alone: all that Harbor does with a task is Harbor's own.
"""

import asyncio
import json
import os
import shutil
import sys
import urllib.request
from pathlib import Path
from typing import Any

from harbor.agents.base import BaseAgent
from harbor.environments.base import BaseEnvironment, ExecResult

_SHARED = ("/usr", "/bin", "/lib", "/lib64", "/sbin", "/etc", sys.base_prefix)


class Room(BaseEnvironment):  # type: ignore[misc]  # Harbor is not among what this project is checked with
    """One room; its root is a directory."""

    @staticmethod
    def type() -> str:
        return "room"

    def __init__(self, *arguments: Any, **more: Any) -> None:  # noqa: ANN401 - Harbor's own
        super().__init__(*arguments, **more)
        self.root: Path = Path(os.environ["HARBOR_ROOMS"]) / self.session_id

    def _validate_definition(self) -> None:
        assert (self.environment_dir / "Dockerfile").is_file()

    async def start(self, force_build: bool) -> None:
        for name in ("app", "tests", "solution", "tmp", "logs/agent", "logs/verifier", "logs/artifacts"):
            (self.root / name).mkdir(parents=True)
        lines = (self.environment_dir / "Dockerfile").read_text("utf-8").splitlines()
        for _, source, target in (line.split() for line in lines if line.startswith("COPY ")):
            shutil.copy(self.environment_dir / source, self._place(target))

    async def stop(self, delete: bool) -> None:
        pass

    def _place(self, path: str) -> Path:
        return self.root / path.lstrip("/")

    async def upload_file(self, source_path: Path | str, target_path: str) -> None:
        self._place(target_path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source_path, self._place(target_path))

    async def upload_dir(self, source_dir: Path | str, target_dir: str) -> None:
        shutil.copytree(source_dir, self._place(target_dir), dirs_exist_ok=True)

    async def download_file(self, source_path: str, target_path: Path | str) -> None:
        shutil.copy(self._place(source_path), target_path)

    async def download_dir(self, source_dir: str, target_dir: Path | str) -> None:
        shutil.copytree(self._place(source_dir), target_dir, dirs_exist_ok=True)

    async def exec(
        self,
        command: str,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout_sec: int | None = None,
        user: str | int | None = None,
    ) -> ExecResult:
        shared = [word for path in _SHARED if Path(path).exists() for word in ("--ro-bind", path, path)]
        given = {"PATH": f"{sys.base_prefix}/bin:/usr/bin:/bin", "HOME": "/app", **(self._merge_env(env) or {})}
        process = await asyncio.create_subprocess_exec(
            *("bwrap", "--unshare-all", "--die-with-parent", "--clearenv", "--bind", str(self.root), "/"),
            *shared,
            *("--proc", "/proc", "--dev", "/dev", "--chdir", cwd or "/app"),
            *(word for name, value in given.items() for word in ("--setenv", name, value)),
            *("sh", "-c", command),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await asyncio.wait_for(process.communicate(), timeout_sec or 60)
        return ExecResult(stdout=out.decode(), stderr=err.decode(), return_code=process.returncode or 0)


class Asking(BaseAgent):  # type: ignore[misc]
    """Sends the instruction to a server, and writes what it says into the answer file."""

    @staticmethod
    def name() -> str:
        return "asking"

    def version(self) -> str:
        return "1"

    async def setup(self, environment: Room) -> None:
        seen = await environment.exec("find /app /tests /solution -type f | sort")
        assert (seen.stdout or "").split() == ["/app/problem.json"], seen

    async def run(self, instruction: str, environment: Room, context: Any) -> None:  # noqa: ANN401 - Harbor's own
        reply = await asyncio.to_thread(self._ask, instruction)
        written = await environment.exec(f"printf '%s\\n' {reply.removeprefix('ANSWER: ')} > /app/answer.txt")
        assert written.return_code == 0, written

    def _ask(self, instruction: str) -> str:
        body = {"model": "some-model", "messages": [{"role": "user", "content": instruction}]}
        url = f"{os.environ['HARBOR_MODEL']}/chat/completions"
        request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return str(json.load(answer)["choices"][0]["message"]["content"])
