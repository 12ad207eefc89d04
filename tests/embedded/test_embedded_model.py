"""Finding the model file without a network."""

import hashlib
import os
from pathlib import Path

import pytest

from pytest_toolgate.providers.embedded.digest import known_digest, remember
from pytest_toolgate.providers.embedded.model import NAME, ModelError, find_model

CONTENT = b"GGUF and some weights"
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("TOOLGATE_LOCAL_MODEL", raising=False)
    folder = tmp_path / "cache" / "pytest-toolgate" / "models"
    folder.mkdir(parents=True)
    return folder


def named(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TOOLGATE_LOCAL_MODEL", str(path))
    return path


class TestNamedByTheEnvironment:
    def test_it_is_taken_as_it_is(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = named(tmp_path / "My-Model.Q8.gguf", monkeypatch)
        path.write_bytes(CONTENT)
        found = find_model()
        assert (found.path, found.sha256) == (path, DIGEST)
        assert (found.source, found.name) == ("TOOLGATE_LOCAL_MODEL", "My-Model.Q8")

    def test_a_relative_path_is_made_absolute(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        named(Path("x.gguf"), monkeypatch).write_bytes(CONTENT)
        assert find_model().path == tmp_path / "x.gguf"

    def test_nothing_is_written_beside_it(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "own").mkdir()
        named(tmp_path / "own" / "x.gguf", monkeypatch).write_bytes(CONTENT)
        find_model()
        assert [path.name for path in (tmp_path / "own").iterdir()] == ["x.gguf"]

    def test_it_comes_before_the_cache(self, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (cache / f"{NAME}.gguf").write_bytes(b"GGUF damaged")
        named(tmp_path / "x.gguf", monkeypatch).write_bytes(CONTENT)
        assert find_model().name == "x"

    def test_missing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = named(tmp_path / "x.gguf", monkeypatch)
        with pytest.raises(ModelError, match=rf"^TOOLGATE_LOCAL_MODEL={path} cannot be read: No such file"):
            find_model()

    def test_a_directory(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        named(tmp_path, monkeypatch)
        with pytest.raises(ModelError, match="is not a regular file"):
            find_model()

    def test_a_pipe_is_not_waited_for(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        os.mkfifo(named(tmp_path / "x.gguf", monkeypatch))
        with pytest.raises(ModelError, match="is not a regular file"):
            find_model()

    @pytest.mark.parametrize("content", [b"", b"GGU", b"PK\3\4 a zip file", b"<!doctype html>"])
    def test_not_gguf(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
        named(tmp_path / "x.gguf", monkeypatch).write_bytes(content)
        with pytest.raises(ModelError, match="does not start with `GGUF`"):
            find_model()

    def test_empty_counts_as_unset(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TOOLGATE_LOCAL_MODEL", "")
        with pytest.raises(ModelError, match="There is no embedded model"):
            find_model()


class TestOfTheCache:
    def record(self, cache: Path, sha256: str) -> None:
        remember(cache / f"{NAME}.gguf", cache / f"{NAME}.gguf.sha256.json", sha256, "pypi")

    def test_none_says_how_to_get_one(self) -> None:
        with pytest.raises(ModelError, match="fetch it once with `toolgate model fetch`"):
            find_model()

    def test_a_recorded_file_is_not_hashed_again(self, cache: Path) -> None:
        # The record says what the content does not bear out: only the record can have been read.
        pinned = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
        (cache / f"{NAME}.gguf").write_bytes(CONTENT)
        self.record(cache, pinned)
        found = find_model()
        assert (found.sha256, found.source, found.name) == (pinned, "pypi", NAME)

    def test_a_file_changed_since_is_hashed_and_refused(self, cache: Path) -> None:
        (cache / f"{NAME}.gguf").write_bytes(CONTENT)
        self.record(cache, "c" * 64)
        (cache / f"{NAME}.gguf").touch()
        with pytest.raises(ModelError, match=rf"is damaged \(SHA-256 {DIGEST}, expected cc324af0"):
            find_model()

    @pytest.mark.parametrize("way", ["written", "replaced"])
    def test_a_file_whose_times_were_set_back_is_hashed(self, cache: Path, tmp_path: Path, way: str) -> None:
        file = cache / f"{NAME}.gguf"
        file.write_bytes(CONTENT)
        self.record(cache, "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046")
        before = file.stat()
        changed = file if way == "written" else tmp_path / "new"
        changed.write_bytes(CONTENT.swapcase().replace(b"gguf", b"GGUF"))
        os.utime(changed, ns=(before.st_atime_ns, before.st_mtime_ns))
        changed.replace(file)
        with pytest.raises(ModelError, match="is damaged"):
            find_model()

    def test_a_copy_with_the_same_content_keeps_its_origin(self, cache: Path) -> None:
        file, record = cache / "x.gguf", cache / "x.json"
        file.write_bytes(CONTENT)
        remember(file, record, DIGEST, "pypi")
        file.touch()
        assert known_digest(file, record) == (DIGEST, "pypi")

    @pytest.mark.parametrize("record", ["", "[]", '{"sha256": 3}', "nonsense", '{"size": 21}'])
    def test_a_broken_record_is_no_record(self, cache: Path, record: str) -> None:
        (cache / f"{NAME}.gguf").write_bytes(CONTENT)
        (cache / f"{NAME}.gguf.sha256.json").write_text(record)
        with pytest.raises(ModelError, match="is damaged"):
            find_model()

    def test_a_relative_cache_home_is_unset(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", "here")
        monkeypatch.setenv("HOME", str(tmp_path))
        with pytest.raises(ModelError, match=rf"at {tmp_path}/\.cache/pytest-toolgate/models/"):
            find_model()
