"""The page on the sandbox names all that the profile shows, sets and refuses."""

from pathlib import Path

import pytest

from pytest_toolgate.sandbox import profile, seccomp

PAGE = (Path(__file__).parents[2] / "docs" / "sandbox.md").read_text("utf-8")
SECTIONS = {part.partition("\n")[0]: part for part in PAGE.split("\n## ")}


@pytest.mark.parametrize(
    "path", [*profile.SYSTEM, *profile._FILES, *profile.WRITABLE, profile.USED, profile.KEPT, profile.PRIVATE]
)
def test_it_names_every_path(path: str) -> None:
    assert f"`{path}`" in SECTIONS["What a script sees"]


def test_it_names_no_path_that_is_not_there() -> None:
    table = [line.split("|")[1] for line in SECTIONS["What a script sees"].splitlines() if line.startswith("| `/")]
    named = {name for cell in table for name in cell.replace("`", "").replace(",", "").split()}
    made = {profile.USED, profile.KEPT, profile.PRIVATE, "/etc/passwd", "/etc/group", "/dev", "/proc"}
    assert named == {*profile.SYSTEM, *profile._FILES, *profile.WRITABLE, *made}


@pytest.mark.parametrize("name", [*profile._ENVIRONMENT, *profile._THREADS, "PATH", "PYTHONPATH"])
def test_it_names_every_variable(name: str) -> None:
    assert f"`{name}`" in SECTIONS["Who it is"]


@pytest.mark.parametrize("call", seccomp._DENIED)
def test_it_names_every_refused_call(call: str) -> None:
    assert f"`{call}`" in SECTIONS["What the kernel refuses"]


@pytest.mark.parametrize(("place", "most"), [(place, most) for place, most in profile.WRITABLE.items() if most])
def test_it_gives_the_sizes(place: str, most: int) -> None:
    [line] = [line for line in PAGE.splitlines() if line.startswith(f"| `{place}`")]
    assert f"{most >> 20} MiB" in line
