"""The rendezvous between the controlling process and its workers, with a stand-in for the server."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from launching import HERE, fake_launch, running, servers_of, started, wait_until

from pytest_toolgate.providers.embedded.endpoint import answer_path, request_path
from pytest_toolgate.providers.embedded.launcher import EmbeddedError, Supervisor, connect

CONNECT = (
    "import sys; from pathlib import Path; from pytest_toolgate.providers.embedded.endpoint import connect;"
    "print(connect(Path(sys.argv[1]), 'local').base_url)"
)


def supervisor(directory: Path, behaviour: str = "serve", start_limit: float = 20.0) -> Supervisor:
    return Supervisor(directory, "local", lambda: fake_launch(directory, behaviour), start_limit)


def kill(directory: Path, pid: int) -> None:
    """Kill a server and wait until its port is closed: threads may outlive the first sign of its death."""
    port = json.loads(answer_path(directory, "local").read_text())["base_url"].split(":")[-1].split("/")[0]
    os.kill(pid, signal.SIGKILL)
    assert wait_until(lambda: not listening(int(port)))


def listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Supervisor]:
    launcher = supervisor(tmp_path)
    launcher.start()
    yield launcher
    launcher.stop()


@pytest.mark.usefixtures("serving")
class TestARunWithAServer:
    def test_nothing_starts_before_a_worker_asks(self, tmp_path: Path) -> None:
        time.sleep(0.3)
        assert started(tmp_path) == []

    def test_the_endpoint_answers_and_names_key_model_and_hash(self, tmp_path: Path) -> None:
        endpoint = connect(tmp_path, "local")
        with urllib.request.urlopen(endpoint.base_url.removesuffix("/v1") + "/health", timeout=5) as reply:
            assert reply.status == 200
        assert (endpoint.api_key, endpoint.model, endpoint.sha256) == ("key", "stand-in", "0" * 64)

    def test_only_the_owner_can_read_the_key(self, tmp_path: Path) -> None:
        connect(tmp_path, "local")
        assert stat.S_IMODE(answer_path(tmp_path, "local").stat().st_mode) == 0o600

    def test_many_processes_share_one_server(self, tmp_path: Path) -> None:
        command = [sys.executable, "-c", CONNECT, str(tmp_path)]
        workers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
        answers = {worker.communicate(timeout=30)[0].strip() for worker in workers}
        assert answers == {connect(tmp_path, "local").base_url}
        assert len(started(tmp_path)) == 1

    def test_a_killed_server_is_replaced_and_the_closed_endpoint_never_returned(self, tmp_path: Path) -> None:
        first = connect(tmp_path, "local")
        kill(tmp_path, started(tmp_path)[0])
        second = connect(tmp_path, "local")
        assert second.base_url != first.base_url
        assert len(started(tmp_path)) == 2

    def test_after_two_restarts_workers_are_told_that_it_died(self, tmp_path: Path) -> None:
        for death in range(3):
            connect(tmp_path, "local")
            kill(tmp_path, started(tmp_path)[death])
        with pytest.raises(EmbeddedError, match=r"died 3 times.*SIGKILL.*a line of log"):
            connect(tmp_path, "local")
        assert len(started(tmp_path)) == 3

    def test_stop_leaves_no_process_and_tells_late_workers(self, tmp_path: Path, serving: Supervisor) -> None:
        connect(tmp_path, "local")
        serving.stop()
        serving.stop()
        assert not running(started(tmp_path)[0])
        with pytest.raises(EmbeddedError, match="stopped with its run"):
            connect(tmp_path, "local", timeout=5)


@pytest.mark.parametrize(
    ("behaviour", "sentence"),
    [
        ("refuse", r"could not start: the model is made of wood; the end of its log: a line of log\.$"),
        ("crash", r"was killed by SIGSEGV at its start; the end of its log: a line of log\.$"),
        ("babble", r"gave an unreadable answer b'llama llama"),
        ("hang", r"was not ready within 1 seconds; the end of its log: a line of log\.$"),
    ],
)
def test_a_server_that_does_not_come_up_is_explained_to_every_worker(
    tmp_path: Path, behaviour: str, sentence: str
) -> None:
    launcher = supervisor(tmp_path, behaviour, start_limit=1.0)
    launcher.start()
    try:
        for _ in range(2):
            with pytest.raises(EmbeddedError, match=sentence):
                connect(tmp_path, "local", timeout=20)
        assert len(started(tmp_path)) == 1
        assert not running(started(tmp_path)[0])
    finally:
        launcher.stop()


def test_a_command_that_does_not_exist_is_explained(tmp_path: Path) -> None:
    def prepare() -> object:
        raise EmbeddedError("There is no such server.")

    launcher = Supervisor(tmp_path, "local", prepare)  # type: ignore[arg-type]
    launcher.start()
    with pytest.raises(EmbeddedError, match=r"^There is no such server\.$"):
        connect(tmp_path, "local", timeout=20)
    launcher.stop()


def test_without_a_controlling_process_a_worker_gives_up_in_time(tmp_path: Path) -> None:
    begin = time.monotonic()
    with pytest.raises(EmbeddedError, match=r"within 0\.3 seconds"):
        connect(tmp_path, "local", timeout=0.3)
    assert time.monotonic() - begin < 10


def test_a_worker_may_ask_before_the_launcher_starts(tmp_path: Path) -> None:
    launcher = supervisor(tmp_path)
    threading.Timer(0.3, launcher.start).start()
    try:
        assert connect(tmp_path, "local", timeout=20).model == "stand-in"
    finally:
        launcher.stop()


def test_what_an_earlier_run_left_in_the_directory_is_no_request_and_no_answer(tmp_path: Path) -> None:
    request_path(tmp_path, "local").touch()
    answer_path(tmp_path, "local").write_text('{"error": "old news"}')
    launcher = supervisor(tmp_path)
    launcher.start()
    try:
        time.sleep(0.3)
        assert started(tmp_path) == []
        assert connect(tmp_path, "local").model == "stand-in"
    finally:
        launcher.stop()


def test_a_server_that_ignores_the_end_of_its_input_is_killed(tmp_path: Path) -> None:
    launcher = supervisor(tmp_path, "stubborn")
    launcher.start()
    connect(tmp_path, "local")
    launcher.stop()
    assert not running(started(tmp_path)[0])


def test_stopping_during_a_slow_start_does_not_wait_for_it(tmp_path: Path) -> None:
    launcher = supervisor(tmp_path, "hang", start_limit=100)
    launcher.start()
    request_path(tmp_path, "local").touch()
    assert wait_until(lambda: started(tmp_path) != [])
    begin = time.monotonic()
    launcher.stop()
    assert time.monotonic() - begin < 20
    assert not running(started(tmp_path)[0])


def test_stop_without_start_and_without_a_request_is_quiet(tmp_path: Path) -> None:
    supervisor(tmp_path).stop()
    launcher = supervisor(tmp_path)
    launcher.start()
    launcher.stop()
    assert started(tmp_path) == []


def test_keys_of_other_providers_do_not_reach_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, serving: Supervisor
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not for you")
    connect(tmp_path, "local")
    assert b"not for you" not in Path(f"/proc/{started(tmp_path)[0]}/environ").read_bytes()


REAL = pytest.param("real", marks=pytest.mark.slow)


class TestNoServerOutlivesItsController:
    @pytest.fixture(params=["fake", REAL])
    def kind(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    def start(self, directory: Path, kind: str, ending: str) -> subprocess.Popen[str]:
        controller = subprocess.Popen(
            [sys.executable, str(HERE / "controller.py"), str(directory), kind, ending],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, "EMBEDDED_TEST": str(directory)},
        )
        assert controller.stdout is not None
        assert controller.stdout.readline() == "up\n", controller.communicate()[1]
        return controller

    def gone(self, directory: Path) -> bool:
        return wait_until(lambda: servers_of(directory) == [], 5)

    @pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
    def test_killed(self, tmp_path: Path, kind: str, number: signal.Signals) -> None:
        controller = self.start(tmp_path, kind, "wait")
        assert len(servers_of(tmp_path)) == 1
        controller.send_signal(number)
        controller.communicate()
        assert self.gone(tmp_path)

    def test_interrupted_with_its_whole_process_group(self, tmp_path: Path, kind: str) -> None:
        controller = self.start(tmp_path, kind, "wait")
        os.killpg(controller.pid, signal.SIGINT)
        assert "KeyboardInterrupt" in controller.communicate()[1]
        assert self.gone(tmp_path)

    def test_ended_by_an_exception(self, tmp_path: Path, kind: str) -> None:
        controller = self.start(tmp_path, kind, "raise")
        errors = controller.communicate()[1]
        assert self.gone(tmp_path)
        assert errors.strip().splitlines()[-1] == "RuntimeError: the run broke"
        assert "llama" not in errors.lower().replace("llama_", "")

    @pytest.mark.slow
    def test_killed_while_the_model_loads(self, tmp_path: Path) -> None:
        controller = self.start(tmp_path, "real", "load")
        assert wait_until(lambda: servers_of(tmp_path) != [])
        server = servers_of(tmp_path)[0]
        # Its memory grows while native code reads the model and holds Python's lock.
        assert wait_until(lambda: _resident_pages(server) > 50_000, 30)
        controller.kill()
        controller.communicate()
        assert wait_until(lambda: not running(server), 0.5)

    @pytest.mark.slow
    def test_killed_while_a_forked_child_holds_the_pipe(self, tmp_path: Path) -> None:
        controller = self.start(tmp_path, "real", "fork")
        controller.kill()
        controller.wait()
        assert self.gone(tmp_path)
        os.killpg(controller.pid, signal.SIGKILL)
        controller.communicate()


def _resident_pages(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (FileNotFoundError, ProcessLookupError, IndexError):
        return 0
