"""Verify, on kinds of scripts that hit real benchmarks."""

import json
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from .pool import Pool


class Row(NamedTuple):
    """A script, what becomes of it, and words that its report must hold."""

    script: str
    verdict: str
    words: tuple[str, ...] = ()
    keys: Mapping[str, Any] = {}


_PASS = "provisional verify"
_TEN_TO_THE_MINUS_SEVEN = {"A": "0.0607230", "B": "0.0607231", "C": "0.0607232", "D": "0.0607233"}
_THREE_DECIMALS = {"A": "0.060", "B": "0.061", "C": "0.062", "D": "0.063"}
_TINY = {"A": "0.000000", "B": "0.000001", "C": "0.000002", "D": "0.000003"}
_MINUS = {"A": "\N{MINUS SIGN}0.5", "B": "0.5", "C": "1.5", "D": "2.5"}

ROWS: Mapping[str, Row] = {
    "e01-glued": Row(
        'print("Info : Done meshing", end=""); print("ANSWER: 0.060723")',
        "rejected verify no-answer",
        ("`Info : Done meshingANSWER: 0.060723`",),
    ),
    "e01-noise": Row('print("noise"); print("ANSWER: 0.060723"); print("noise")', _PASS),
    "e03-crash-at-exit": Row(
        """
        import atexit, os
        atexit.register(os.abort)
        print("ANSWER: 0.060723", flush=True)
        """,
        "rejected verify killed",
        ("signal 6", "an answer had been printed before"),
    ),
    "e05-repr": Row(
        'import numpy as np; print("ANSWER:", (np.float64(0.060723),))',
        "rejected verify unreadable",
        ("format the number",),
    ),
    "e07-same-twice": Row(
        'print("ANSWER: 0.060723\\nANSWER: 0.060723")', "rejected verify many-answers", ("2 answers",)
    ),
    "e07-two": Row('print("ANSWER: 0.060723\\nANSWER: 0.060074")', "rejected verify many-answers", ("2 answers",)),
    "e07-ranks": Row(
        """
        import subprocess, sys
        ranks = [subprocess.Popen([sys.executable, "-c", "print('ANSWER: 0.060723')"]) for _ in range(2)]
        for rank in ranks:
            rank.wait()
        """,
        "rejected verify many-answers",
        ("print on rank 0",),
    ),
    "e09-hang-after-answer": Row(
        'import time; print("ANSWER: 0.060723", flush=True); time.sleep(1e6)',
        "rejected verify timeout",
        ("an answer had been printed before",),
    ),
    "e11-loop": Row("while True: pass", "rejected verify timeout"),
    "e13-traceback-and-nothing": Row(
        """
        import traceback
        try: 1 / 0
        except ZeroDivisionError: traceback.print_exc()
        """,
        "rejected verify no-answer",
    ),
    "e13-exit-1": Row(
        'import sys; print("ANSWER: 0.060723"); sys.exit(1)', "rejected verify exit-status", ("status 1",)
    ),
    "e13-traceback-and-answer": Row(
        """
        import traceback
        try: 1 / 0
        except ZeroDivisionError: traceback.print_exc()
        print("ANSWER: 0.060723")
        """,
        _PASS,
        ("warning: the script printed a traceback",),
    ),
    "e15-no-home": Row(
        """
        import os, pathlib
        names = ("HOME", "MPLCONFIGDIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "TMPDIR")
        for name in ["~/.cache/fenics", *(os.environ[name] for name in names)]:
            place = pathlib.Path(name).expanduser()
            place.mkdir(parents=True, exist_ok=True)
            (place / "toolgate-canary").write_text("x")
        print("ANSWER: 0.060723")
        """,
        _PASS,
    ),
    "e17-threads": Row(
        """
        import os
        assert os.environ["OMP_NUM_THREADS"] == os.environ["OPENBLAS_NUM_THREADS"]
        print(os.environ["OMP_NUM_THREADS"], "threads")
        print("ANSWER: 0.060723")
        """,
        _PASS,
    ),
    "e19-small-noise": Row(
        'import random; print(f"ANSWER: {0.0612 + random.gauss(0, 1e-7)}")',
        _PASS,
        keys={"options": _THREE_DECIMALS},
    ),
    "e19-noise-like-the-options": Row(
        """
        import os
        print("ANSWER: 0.060723" + ("1" if os.environ["PYTHONHASHSEED"] == "0" else "2"))
        """,
        "rejected verify not-reproducible",
        ("run 1", "run 2"),
        {"options": _TEN_TO_THE_MINUS_SEVEN},
    ),
    "e19-set-order": Row(
        """
        first = next(iter({f"rule {n}" for n in range(100)}))
        print("ANSWER: 0.060723" if first == "rule <first>" else "ANSWER: 0.060074")
        """,
        "rejected verify not-reproducible",
    ),
    "e23-window": Row(
        """
        import os
        class plt:
            def show(): pass
        assert os.environ["MPLBACKEND"] == "Agg" and os.environ["PYVISTA_OFF_SCREEN"] == "true"
        assert "DISPLAY" not in os.environ
        plt.show()
        print("ANSWER: 0.060723")
        """,
        _PASS,
        ("warning: the script calls `.show(`",),
    ),
    "e25-hard-coded-letter": Row('print("ANSWER: B")', "rejected verify mismatch", ("re-lettered",)),
    "e25-hard-coded-value": Row(
        '#\nprint("ANSWER: 0.060723")', "rejected verify tool-unused", ("`scipy`",), {"without_scipy": True}
    ),
    "e25-comment": Row('print("ANSWER: 0.060723")  # ANSWER: B', _PASS),
    "e25-mention": Row(
        'scipy = "import scipy"; print("ANSWER: 0.060723")',
        "rejected verify tool-unused",
        keys={"without_scipy": True},
    ),
    "e27-crlf": Row('import sys\r\nsys.stdout.write("x\\r\\nANSWER: 0.060723\\r\\n")\r\n', _PASS),
    "letter-from-the-problem": Row(
        """
        import json
        options = json.load(open("problem.json"))["options"]
        print("ANSWER:", next(letter for letter, text in options.items() if text == "0.060723"))
        """,
        _PASS,
    ),
    "c05-last-digit": Row(
        'print("ANSWER: 0.060722")', "rejected verify mismatch", ("the nearest is B `0.060723`", "away")
    ),
    "c07-tiny": Row('print("ANSWER: 1.2e-16")', _PASS, keys={"options": _TINY, "answer": "A"}),
    "c07-minus-zero": Row('print("ANSWER: -0.000000")', _PASS, keys={"options": _TINY, "answer": "A"}),
    "c09-minus": Row('print("ANSWER: -0.5")', _PASS, keys={"options": _MINUS, "answer": "A"}),
    "c13-nan": Row('print("ANSWER: nan")', "rejected verify unreadable", ("not finite",)),
    "c13-inf": Row('print("ANSWER: inf")', "rejected verify unreadable"),
    "c13-none": Row('print("ANSWER: None")', "rejected verify unreadable"),
    "c13-code": Row(
        """print("ANSWER: __import__('os').system('touch /tmp/toolgate-pwned')")""",
        "rejected verify unreadable",
    ),
    "empty-answer": Row('print("ANSWER:")', "rejected verify unreadable", ("empty",)),
    "missing-import": Row("import no_such_package", "rejected verify exit-status", ("no_such_package",)),
}


# Where E15 would have written, had it been the user's own home.
HOME_CACHES = (".", ".cache", ".cache/fenics", ".cache/numba", ".config/matplotlib")


@pytest.fixture
def fake_python(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """E21 and E23: another `python` first on PATH, and a display."""
    directory = tmp_path_factory.mktemp("bin")
    for name in ("python", "python3"):
        (directory / name).write_text("#!/bin/sh\nexit 9\n")
        (directory / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(directory), prepend=":")
    monkeypatch.setenv("DISPLAY", ":0")


@pytest.mark.usefixtures("fake_python")
def test_every_script_gets_what_it_deserves(pool: Pool) -> None:
    pool.configure("verify: {time_limit: 4}")
    for name, row in ROWS.items():
        keys = dict(row.keys)
        preamble = "" if keys.pop("without_scipy", False) else "import scipy\n"
        script = row.script.replace("<first>", _first_of_set(hash_seed=0))
        pool.add(name, preamble + textwrap.dedent(script).lstrip("\n"), **keys)
    pool.write("candidates/script.py", b'import scipy\r\nprint("ANSWER: 0.060723")\r\n')
    pool.add("e27-file", None, solution_file="script.py")
    pool.add("e21-interpreter", 'import scipy, sys\nprint(sys.executable)\nprint("ANSWER: 0.060723")')

    session = pool.run(workers=2)
    expected = {name: row.verdict for name, row in ROWS.items()}
    assert session.verdicts == expected | {"e27-file": _PASS, "e21-interpreter": _PASS}
    assert session.code == 1
    for name, row in ROWS.items():
        for words in row.words:
            assert words in session.line_about(name), name

    runs = pool.recorded("script_runs")
    assert {run["name"] for run in runs} == set(session.verdicts)
    for run in runs:
        environment = json.loads(run["environment"])
        assert environment["python"] == sys.executable
        assert environment["threads"] == 1 + run["number"]
        if run["name"] == "e17-threads":
            assert run["stdout"].startswith(f"{environment['threads']} threads\n")
        assert set(environment["packages"]) == {"scipy", "numpy"}
        assert run["wall"] < 8
        assert environment["installed"].keys() >= {"scipy", "numpy"}
        if run["name"] == "e21-interpreter":
            assert sys.executable in run["stdout"]
    assert not list(pool.root.rglob("toolgate-canary"))
    assert not [place for place in HOME_CACHES if (Path.home() / place / "toolgate-canary").exists()]
    assert not Path("/tmp/toolgate-pwned").exists()


def _first_of_set(hash_seed: int) -> str:
    """The number of the rule that comes first under a hash seed."""
    code = 'print(next(iter({f"rule {n}" for n in range(100)})).split()[1])'
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONHASHSEED": str(hash_seed)}, capture_output=True, check=True
    )
    return done.stdout.decode().strip()
