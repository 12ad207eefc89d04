"""Verify: limits, signals, and what is missing on the machine rather than in the script."""

import subprocess
import sys
import time

from .pool import SCRIPT, Pool


def test_each_limit_has_its_reason(pool: Pool) -> None:
    pool.configure("verify: {time_limit: 3, repeats: 1, memory: 268435456, disk: 16777216}")
    scripts = {
        "memory": "block = bytearray(600 << 20)\nprint(len(block))",
        "memory-error": "raise MemoryError",
        "disk": "with open('x', 'wb') as file:\n    for _ in range(64): file.write(bytes(1 << 20))",
        "output": "import sys\nfor _ in range(16): sys.stdout.write('x' * (1 << 20))",
        "time": "import time\ntime.sleep(60)",
        "signal": "import os\nos.kill(os.getpid(), 11)",
        "children": "import subprocess, scipy\nsubprocess.Popen(['sleep', '60'])\nprint('ANSWER: 0.060723')",
        "stderr-only": "import sys, scipy\nsys.stderr.write('x' * (16 << 20))\nprint('ANSWER: 0.060723')",
    }
    for name, script in scripts.items():
        pool.add(name, script)
    begun = time.monotonic()
    session = pool.run(workers=2)
    assert session.verdicts == {
        "memory": "rejected verify memory-limit",
        "memory-error": "rejected verify memory-limit",
        "disk": "rejected verify disk-limit",
        "output": "rejected verify output-limit",
        "time": "rejected verify timeout",
        "signal": "rejected verify killed",
        "children": "provisional verify",
        "stderr-only": "provisional verify",
    }
    assert time.monotonic() - begun < 30
    [run] = [run for run in pool.recorded("script_runs") if run["name"] == "time"]
    assert 3 <= run["wall"] < 6
    assert all(case.headline.count("\n") == 0 and len(case.headline) < 600 for case in session.cases.values())


def test_a_domain_that_is_not_installed_is_an_error_of_the_environment(pool: Pool) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "bare"], cwd=pool.root, check=True)
    pool.configure(f"domains: {{scipy: {{python: {pool.root}/bare/bin/python}}}}")
    pool.add("software", SCRIPT)
    pool.add("submodule", "from scipy.special import j1")
    pool.add("other", "import requests")
    pool.add("pretends", "raise ModuleNotFoundError(\"No module named 'scipy_extras'\")")
    session = pool.run()
    assert session.verdicts == {
        "software": "error verify environment",
        "submodule": "error verify environment",
        "other": "rejected verify exit-status",
        "pretends": "rejected verify exit-status",
    }
    assert session.cases["software"].tag == "error"
    assert "`scipy`" in session.cases["software"].headline
    assert "bare/bin/python" in session.cases["software"].headline


def test_an_interpreter_that_does_not_run_is_an_error(pool: Pool) -> None:
    pool.configure("domains: {scipy: {python: /bin/false}}")
    pool.add("first")
    pool.add("misformed", answer="E")
    session = pool.run()
    assert session.verdicts == {"first": "error verify sandbox", "misformed": "rejected lint bad-answer"}
    assert "/bin/false" in session.cases["first"].headline
