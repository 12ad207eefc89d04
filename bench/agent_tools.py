"""The built-in agent's two ways to have a script run, with and without hints, with the embedded model.

    .venv/bin/python bench/agent_tools.py --minutes 25
    .venv/bin/python bench/agent_tools.py --direct

Without `--direct` the questions are candidates of this repository, in a fixed order that takes SciPy and FEniCSx in
turn; with it the ten questions of `bench/agent.py`. Each is asked in every way before the next, and none is begun after
so many minutes. Hints are for FEniCSx: those for SciPy are one sentence. Turns, not seconds, end a solve: other work on
the machine changes the time, and the result hardly. Prints a line per solve, then per way: solved, wrong, without an
answer; replies of the model, and how many of them called the tool.
"""

import argparse
import dataclasses
import itertools
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from agent import MODEL, QUESTIONS

from pytest_toolgate.agents import Task
from pytest_toolgate.agents.builtin import solve
from pytest_toolgate.candidate import Candidate, read_candidate
from pytest_toolgate.config import ProviderSettings, SolveSettings
from pytest_toolgate.domains import load_domain
from pytest_toolgate.gates.agent_runs import presentation_of
from pytest_toolgate.gates.answer_file import read_answer_file
from pytest_toolgate.gates.job_files import problem_files
from pytest_toolgate.providers import Provider, open_provider
from pytest_toolgate.providers.embedded import Launcher
from pytest_toolgate.sandbox import Limits, Slots, inspect_interpreter

SECONDS = 900.0
SETTINGS = SolveSettings(provider="local", model=MODEL, time_limit=SECONDS, max_turns=4, max_output_tokens=512)
WAYS = {
    f"{tools}, {'with' if hints else 'without'} hints": dataclasses.replace(SETTINGS, tools=tools, hints=hints)
    for hints in (False, True)
    for tools in ("blocks", "functions")
}
CANDIDATES = Path(__file__).parents[1] / "candidates"


def direct() -> Iterator[Candidate]:
    """The ten questions, as candidates."""
    for number, (question, right, wrong) in enumerate(QUESTIONS):
        values = wrong.split()
        values.insert(number % 4, right)
        options = dict(zip("ABCD", values, strict=True))
        yield Candidate(f"direct-{number + 1}", question, options, "ABCD"[number % 4], "", "scipy", Path(__file__))


def proposed() -> Iterator[Candidate]:
    """The candidates of this repository, SciPy and FEniCSx in turn."""
    folders = (sorted((CANDIDATES / domain).glob("*.yaml")) for domain in ("scipy", "fenicsx"))
    for paths in itertools.zip_longest(*folders):
        yield from (read_candidate(path, domains=("scipy", "fenicsx")) for path in paths if path)


def attempt(candidate: Candidate, settings: SolveSettings, provider: Provider, directory: Path) -> tuple[str, int, int]:
    """How one solve ended, the replies of the model, and how many of them called the tool."""
    domain = load_domain(candidate.domain)
    interpreter = inspect_interpreter(Path(sys.executable), domain.distributions)
    shown = presentation_of(candidate, settings, 0).show(candidate.options)
    task = Task(
        candidate.question, shown, problem_files(candidate, shown, domain, interpreter),
        Path(tempfile.mkdtemp(dir=directory)), domain, interpreter, settings, provider, Limits(), (),
        Slots(directory / "calls", 1, 600), Slots(directory / "cpu", 2, 600), time.monotonic() + SECONDS, lambda: None,
    )  # fmt: skip
    run = solve(task)
    letter = read_answer_file(task.workspace / "answer.txt", shown).letter
    ended = "timeout" if run.ended == "timeout" else "none" if letter is None else "wrong"
    if letter is not None and shown[letter] == candidate.value and run.ended != "timeout":
        ended = "solved"
    return ended, run.turns, sum("calls" in entry for entry in run.transcript)


def main() -> int:
    """Ask every question in every way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=25.0)
    parser.add_argument("--direct", action="store_true")
    arguments = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="toolgate-bench-"))
    launcher = Launcher(directory, "local")
    launcher.start()
    ended: dict[str, Counter[str]] = {way: Counter() for way in WAYS}
    begun = time.monotonic()
    asked: Counter[str] = Counter()
    try:
        provider = open_provider(ProviderSettings("local", kind="llama-cpp", timeout=SECONDS), directory)
        for candidate in direct() if arguments.direct else proposed():
            if time.monotonic() - begun > arguments.minutes * 60:
                break
            asked[candidate.domain] += 1
            for way, settings in WAYS.items():
                # The notes on SciPy are one sentence that says that it is there.
                if candidate.domain == "scipy" and settings.hints:
                    continue
                started = time.monotonic()
                how, replies, calls = attempt(candidate, settings, provider, directory)
                ended[way].update({how: 1, "replies": replies, "calls": calls})
                took = time.monotonic() - started
                print(f"{candidate.id:40} {way:28} {how:8} {replies} replies {calls} calls {took:4.0f} s", flush=True)
    finally:
        launcher.stop()
    print(", ".join(f"{count} questions of {domain}" for domain, count in asked.items()))
    for way, count in ((way, count) for way, count in ended.items() if count):
        print(
            f"{way:28} "
            + ", ".join(f"{name} {count[name]}" for name in ("solved", "wrong", "none", "timeout", "replies", "calls"))
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
