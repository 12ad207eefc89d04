"""The measurements in `bench/` work, on a small scale; what they come to is measured elsewhere."""

import importlib.util
import re
import subprocess
import sys

import pytest

from .pages import ROOT


def bench(name: str, *arguments: str) -> str:
    command = [sys.executable, str(ROOT / "bench" / name), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("dolfinx_solver") is None, reason="needs DOLFINx")
def test_verification_is_measured_against_its_peer_and_its_limit() -> None:
    printed = bench("verify.py", "--quick")
    for name in ("subprocess.run, fresh forms", "subprocess.run, forms compiled", "toolgate", "fork of a warm process"):
        assert re.search(rf"^{re.escape(name)} +\d+\.\d\d \(", printed, re.MULTILINE), printed
    assert "toolgate : subprocess.run, fresh forms" in printed
    assert "all of them right" in printed


def test_the_controlling_process_keeps_little_more_of_a_candidate_than_pytest_does_of_a_test() -> None:
    printed = bench("memory.py", "800")
    [net] = re.findall(r"net (-?\d+\.\d\d) KB", printed)
    assert float(net) < 3, printed


def test_many_replies_are_reported_on_verified_and_merged_beside_plain_sqlite() -> None:
    """What they come to is right, which the measurement itself checks."""
    printed = bench("replies.py", "400", "20")
    assert len(re.findall(r"ratio \d+\.\d\d$", printed, re.MULTILINE)) == 6, printed


def test_the_pool_is_held_against_itself_faster_than_all_with_all() -> None:
    """And finds the same, which the measurement itself checks."""
    printed = bench("pool.py", "200", "100")
    assert len(re.findall(r"ratio 0\.\d+$", printed, re.MULTILINE)) == 2, printed
