"""What the shipped domains bring along: a guide whose code runs, seeds of which none gives its answer away."""

import dataclasses
import importlib.util
import re
import subprocess
import sys
import tarfile
import uuid
import zipfile
from pathlib import Path

import pytest

from pytest_toolgate.candidate import Candidate, read_candidate
from pytest_toolgate.config import DomainSettings, Settings
from pytest_toolgate.domains import Domain, domain_names, load_domain
from pytest_toolgate.gates.workbench import domain_python

from .benches import workbench
from .items import candidate

ROOT = Path(__file__).parents[2]
SHIPPED = ("fenicsx", "scipy")
NEEDS = {"fenicsx": "dolfinx_solver", "scipy": "scipy"}
PLAIN = Domain(name="lab", title="Lab", packages=("lab",), distributions=())


def seeds(name: str) -> list[Candidate]:
    folder = load_domain(name).seeds
    assert folder is not None
    return [read_candidate(path, domains=domain_names()) for path in sorted(folder.glob("*.yaml"))]


# --- the guide --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SHIPPED)
def test_the_code_of_a_guide_runs(name: str, tmp_path: Path) -> None:
    """All of it, in order, and quietly, since what is deprecated goes with the next release."""
    if importlib.util.find_spec(NEEDS[name]) is None:
        pytest.skip(f"needs {NEEDS[name]}")
    code = "\n".join(re.findall(r"```python\n(.*?)```", load_domain(name).guide, flags=re.DOTALL))
    assert code
    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_guide_says_what_its_domain_has_in_common_with_all_others() -> None:
    for name in SHIPPED:
        headings = re.findall(r"^## (.+)$", load_domain(name).guide, flags=re.MULTILINE)
        assert headings == [
            *("The software", "The interface", "Which questions need it", "What must be stated", "The script"),
            "Mistakes to build distractors from",
        ]


# --- seeds ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "count"), [("fenicsx", 5), ("scipy", 3)])
def test_seeds_show_what_a_good_candidate_is(name: str, count: int) -> None:
    found = seeds(name)
    assert len(found) == count
    canaries = {uuid.UUID(str(seed.metadata["canary"])) for seed in found}
    assert len(canaries) == count
    for seed in found:
        assert seed.domain == name
        assert len(seed.distractors) == 3
        assert len({len(text.partition(".")[2]) for text in seed.options.values()}) == 1
        assert re.search(r"decimals?\b", seed.question)


def test_neither_letter_nor_rank_of_the_answer_is_always_the_same() -> None:
    letters, ranks = set(), set()
    for seed in seeds("fenicsx"):
        letters.add(seed.answer)
        ranks.add(sorted(seed.options, key=lambda letter: float(seed.options[letter])).index(seed.answer))
    assert letters == {"A", "B", "C", "D"}
    assert ranks == {0, 1, 2, 3}


def test_the_seeds_of_fenicsx_solve_one_problem_in_five_ways() -> None:
    for seed in seeds("fenicsx"):
        assert "-div((1 + u^2) grad u) = f" in seed.question
        assert "without the closed" in seed.question or "hole" in seed.question
        assert "residual norm below 1e-10" in " ".join(seed.question.split())
        assert '"snes_error_if_not_converged": True' in seed.solution


def test_guides_and_seeds_are_in_what_is_installed(tmp_path: Path) -> None:
    """In the wheel beside the domain, in the archive of the source where the repository has them."""
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, capture_output=True, timeout=60, check=True)
    [wheel], [archive] = tmp_path.glob("*.whl"), tmp_path.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as opened, tarfile.open(archive) as source:
        for name in SHIPPED:
            package = f"pytest_toolgate/domains/{name}"
            files = {f"{package}/guide.md": ROOT / package / "guide.md"}
            files |= {f"{package}/seeds/{seed.path.name}": seed.path for seed in seeds(name)}
            for path, original in files.items():
                assert opened.read(path) == original.read_bytes()
                member = f"{archive.name.removesuffix('.tar.gz')}/{original.relative_to(ROOT)}"
                file = source.extractfile(member)
                assert file is not None
                assert file.read() == original.read_bytes()


def test_nobody_who_solves_sees_the_seeds(tmp_path: Path) -> None:
    bench, domain = workbench(tmp_path, Settings()), load_domain("scipy")
    assert domain.seeds in bench.hidden(domain, candidate(domain="scipy", path=tmp_path / "item.yaml"))


# --- the interpreter --------------------------------------------------------------------------------------


def test_the_users_interpreter_comes_before_the_domains_and_that_before_the_default() -> None:
    own = dataclasses.replace(PLAIN, python=Path("/lab/python"))
    set_by_user = Settings(domains={"lab": DomainSettings(Path("/my/python"))})
    default = Path("/default/python")
    assert domain_python(PLAIN, Settings(), default) == default
    assert domain_python(own, Settings(), default) == Path("/lab/python")
    assert domain_python(own, set_by_user, default) == Path("/my/python")
    assert domain_python(own, Settings(domains={"lab": DomainSettings()}), default) == Path("/lab/python")


def test_every_field_of_a_domain_is_documented() -> None:
    text = (ROOT / "docs/domains.md").read_text("utf-8").partition("### What it holds")[2].partition("\n### ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \|", text, flags=re.MULTILINE)
    fields = dataclasses.fields(Domain)
    required = {field.name for field in fields if field.default is dataclasses.MISSING}
    assert {name for name, _ in rows} == {field.name for field in fields}
    assert {name for name, needed in rows if needed == "required"} == required
