"""One proposal: the generator's agent at work, and the one file that it leaves."""

import json
import time
from pathlib import Path
from typing import Final

from ..agents import AgentError, AgentRun, agent_version, load_agent
from ..config import GenerateSettings
from ..domains import Domain
from ..gates import Workbench
from ..gates.agent_task import NotAdmitted, Work, agent_task, in_time
from ..gates.domain_preflight import domain_preflight
from ..gates.environment import Conditions, environment
from ..gates.job_files import stand_ins
from ..gates.money import tokens_and_cost
from ..gates.result import fault
from ..gates.tripwire import Tripwires
from ..providers import ProviderError
from ..sandbox import Interpreter, SandboxError, SlotTimeout, probe
from .proposal import Proposal, read_proposal

_SEEN: Final = "the token of this run"


def propose(
    prompt: str, round_id: str, domain: Domain, settings: GenerateSettings, bench: Workbench, beside: Path
) -> Proposal:
    """Let the generator's agent work on a prompt, and record what it leaves.

    Args:
        prompt: All that it is told.
        round_id: Key of the round.
        domain: The target software.
        settings: The generator.
        bench: What gates work with.
        beside: Where other proposals lie, which it may not see.

    Raises:
        StoreError: It could not be recorded.
    """
    try:
        return _propose(prompt, round_id, domain, settings, bench, beside)
    except NotAdmitted as stop:
        return Proposal("error", reason=stop.result.reason, sentence=stop.result.sentence)
    except SandboxError as problem:
        return Proposal("error", reason="sandbox", sentence=str(problem))
    except ProviderError as problem:
        return Proposal("error", reason="provider", sentence=str(problem))
    except AgentError as problem:
        return Proposal("error", reason=problem.reason, sentence=str(problem))
    except SlotTimeout as problem:
        return Proposal("error", reason="environment", sentence=str(problem))


def _propose(
    prompt: str, round_id: str, domain: Domain, settings: GenerateSettings, bench: Workbench, beside: Path
) -> Proposal:
    probe(bench.settings.sandbox)
    interpreter = bench.interpreter(domain)
    hidden = (*bench.hidden(domain), beside)
    if stop := domain_preflight(domain, interpreter, bench, hidden):
        return Proposal("error", reason=stop.reason, sentence=stop.sentence)
    tripwires = Tripwires({bench.run.seal: _SEEN})

    def watch(data: bytes, where: str = "a request to its model") -> str | None:
        found = tripwires.found(data)
        return f"the workspace was not sealed: {found} was seen in {where}" if found else None

    in_force = settings.at(bench.settings.providers[settings.provider])
    version = agent_version(in_force)
    agent = load_agent(settings.agent)
    files = stand_ins(domain, interpreter)
    work = Work(round_id, prompt, {}, files, domain, interpreter, hidden, watch)
    with agent_task(work, in_force, bench) as (task, admission):
        begun = time.monotonic()
        try:
            run = in_time(agent(task), task)
        except AgentError as problem:
            run = AgentRun(
                "finished", problem.transcript, problem.turns, problem.tokens, problem.used, called=problem.called
            )
            proposal = Proposal("error", reason=problem.reason, sentence=str(problem))
            if problem.quota:
                bench.stop_paid_work(str(problem))
        except Exception as problem:  # noqa: BLE001 - whatever it is, nothing is known about what it would have proposed
            run = AgentRun("finished")
            proposal = Proposal("error", reason="internal", sentence=fault(problem))
        else:
            proposal = read_proposal(task.workspace / task.result, run)
            seen = [(json.dumps(entry, default=str), "the transcript") for entry in run.transcript]
            for text, where in (*seen, (proposal.text or "", "the candidate file")):
                if found := watch(text.encode("utf-8", "replace"), where):
                    proposal = Proposal("error", reason="sandbox", sentence=found)
        finally:
            admission.end()
        wall = time.monotonic() - begun
    _record(proposal, run, version, wall, round_id, interpreter, in_force, bench)
    return proposal


def _record(
    proposal: Proposal,
    run: AgentRun,
    version: str | None,
    wall: float,
    round_id: str,
    interpreter: Interpreter,
    settings: GenerateSettings,
    bench: Workbench,
) -> None:
    bench.store.append("proposals", {
        "run_id": bench.run.id,
        "round_id": round_id,
        "ended": proposal.ended,
        "note": proposal.sentence,
        "content": proposal.text,
        "settings": settings.plain(),
        "agent": settings.agent,
        "agent_version": version,
        "environment": {**environment(interpreter, Conditions()), "sandbox": bench.settings.sandbox},
        "used": list(run.used),
        "called": None if run.called is None else list(run.called),
        "transcript": list(run.transcript),
        "turns": run.turns,
        **tokens_and_cost(bench.settings.providers[settings.provider], settings.model, run.tokens),
        "wall": round(wall, 3),
    })  # fmt: skip
