"""Codex CLI with software that compiles code as it runs, in caches, and speaks to itself through /dev/shm."""

import importlib.util
import json

import pytest
from agent_server import KEY, AgentServer, Run, Say, outputs, turns

from .agent_cases import GATE, PASS
from .pool import Pool
from .test_codex import PROVIDER, SOLVE
from .test_verify_fenicsx import OPTIONS, SCRIPT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("dolfinx_solver") is None, reason="needs DOLFINx"),
]

WRITE = """
import json
options = json.load(open("problem.json"))["options"]
open("answer.txt", "w").write(next(letter for letter, text in options.items() if text == f"{value:.4f}"))
"""


def test_a_form_is_compiled_in_its_sandbox(pool: Pool, model: AgentServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_KEY", KEY)
    pool.add("integral", SCRIPT, domain="fenicsx", options=OPTIONS)
    pool.configure(PROVIDER, SOLVE.replace("40", "90"), url=model.base_url)
    model.script = turns(Run(f"cat > s.py << 'END'\n{SCRIPT}{WRITE}END\npython s.py"), Say("Done."))
    session = pool.run(GATE)
    assert session.verdicts == {"integral": PASS}, outputs(model.requests[-1])
    [row] = pool.recorded("agent_runs")
    assert json.loads(row["used"]) == ["basix", "dolfinx", "ffcx", "ufl"]
