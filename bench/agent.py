"""The built-in agent against a plain loop of six turns: same embedded model, same questions, one run.

    .venv/bin/python bench/agent.py

The plain loop shows the model the question, runs the first code block of each reply in the same sandbox, shows
the output and takes the first `ANSWER:` line. Both have six turns and the same time per question. Every question can be
answered by one or two SciPy calls. Prints a line per question and the two counts.
"""

import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pytest_toolgate.agents import Task
from pytest_toolgate.agents.builtin import solve
from pytest_toolgate.config import ProviderSettings, SolveSettings
from pytest_toolgate.domains import load_domain
from pytest_toolgate.gates.answer_file import read_answer_file
from pytest_toolgate.providers import Message, Request, open_provider
from pytest_toolgate.providers.embedded import Launcher
from pytest_toolgate.sandbox import Job, Limits, Slots, inspect_interpreter, run
from pytest_toolgate.screen.reading import read_reply

SECONDS = 90.0
MODEL = "qwen2.5-coder-1.5b-instruct-q4_k_m"
# Question, the right value (computed with SciPy 1.18), three wrong ones that come from plausible slips.
QUESTIONS = tuple(
    line.strip().split(" | ")
    for line in """
    Compute the integral of exp(-x^2) cos(3x) for x from 0 to 2, to five decimals. | 0.09001 | 0.09341 0.08214 0.18002
    Find the root of cos(x) - x^3 between 0 and 1, to five decimals. | 0.86547 | 0.82413 0.89602 0.73909
    Give the fifth positive zero of the Bessel function J_0, to five decimals. | 14.93092 | 11.79153 16.47063 18.07106
    Let A = [[0.3, 1.2, -0.4], [0.7, -0.5, 0.9], [1.1, 0.2, 0.6]]. Give the trace of expm(A). | 4.77609 | 3.77851 1.49182 5.01233
    Give the 0.975 quantile of Student's t with 7 degrees of freedom. | 2.36462 | 1.95996 1.89458 2.30600
    Solve y'(t) = -2 t y + sin(t), y(0) = 1, and give y(1.5) to five decimals. | 0.44913 | 0.10540 0.39872 0.51207
    Maximise 3x + 5y + 4z with 2x + 3y <= 8, 2y + 5z <= 10, 3x + 2y + 4z <= 15, all >= 0. | 18.65854 | 17.0 19.33333 18.04878
    Give the complete elliptic integral K for the parameter m = 0.6, to five decimals. | 1.94957 | 1.75075 1.29843 1.57080
    Let s be the natural cubic spline through (0, 0), (1, 0.8), (2, 0.9), (3, 0.1), (4, -0.8). s(2.5)? | 0.565625 | 0.578125 0.5 0.605882
    X is binomial with n = 40 and p = 0.2. Give P(X >= 12) to five decimals. | 0.08751 | 0.04324 0.04426 0.95676
    """.strip().splitlines()
)
_BLOCK = re.compile(r"```(?:python)?\n(.*?)```", re.DOTALL)
_PLAIN = (
    "Answer the multiple-choice question. You can run Python with NumPy and SciPy: reply with a ```python block and you "
    "will see its output. When you know the answer, reply with the line ANSWER: and its letter."
)


def plain_loop(task: Task) -> str | None:
    """Six turns of a conversation, without anything else."""
    options = "\n".join(f"{letter}) {text}" for letter, text in task.options.items())
    messages = [Message("system", _PLAIN), Message("user", f"{task.question}\n\n{options}")]
    for _ in range(task.settings.max_turns):
        left = task.deadline - time.monotonic()
        if left <= 0:
            return None
        reply = task.provider.ask(Request(MODEL, tuple(messages), max_output_tokens=1024, deadline=left))
        if reply.status == "failed":
            return None
        messages.append(Message("assistant", reply.text))
        block = _BLOCK.search(reply.text)
        if block is None:
            if letter := read_reply(reply.text, task.options).letter:
                return letter
            messages.append(Message("user", "Go on."))
            continue
        limits = Limits(wall=max(1.0, min(30.0, task.deadline - time.monotonic())))
        done = run(Job(task.interpreter, block[1].encode(), limits=limits))
        messages.append(Message("user", f"Output:\n{(done.stdout + done.stderr)[-3000:].decode(errors='replace')}"))
    return None


def builtin(task: Task) -> str | None:
    """The agent of the solve gate."""
    solve(task)
    return read_answer_file(task.workspace / "answer.txt", task.options).letter


def main() -> int:
    """Run both loops on every question."""
    run_directory = Path(tempfile.mkdtemp(prefix="toolgate-bench-"))
    launcher = Launcher(run_directory, "local")
    launcher.start()
    loops: dict[str, Callable[[Task], str | None]] = {"plain": plain_loop, "built-in": builtin}
    solved = dict.fromkeys(loops, 0)
    try:
        provider = open_provider(ProviderSettings("local", kind="llama-cpp", timeout=300), run_directory)
        interpreter = inspect_interpreter(Path(sys.executable), ("scipy", "numpy"))
        settings = SolveSettings(
            provider="local", model=MODEL, time_limit=SECONDS, max_turns=6, max_output_tokens=1024, tools="blocks"
        )
        for number, (question, right, wrong) in enumerate(QUESTIONS):
            values = wrong.split()
            values.insert(number % 4, right)
            options = dict(zip("ABCD", values, strict=True))
            line = []
            for name, loop in loops.items():
                begun = time.monotonic()
                task = Task(
                    question, options, {}, Path(tempfile.mkdtemp(dir=run_directory)), load_domain("scipy"), interpreter,
                    settings, provider, Limits(), (), Slots(run_directory / "calls", 1, 600), Slots(run_directory / "cpu", 2, 600), begun + SECONDS, lambda: None,
                )  # fmt: skip
                letter = loop(task)
                good = letter is not None and options[letter] == right
                solved[name] += good
                line.append(
                    f"{name}: {'solved' if good else letter or 'no answer':9} {time.monotonic() - begun:4.0f} s"
                )
            print(f"{number + 1:2}  " + "   ".join(line) + f"   {question[:60]}", flush=True)
    finally:
        launcher.stop()
    print(", ".join(f"{name} {count} of {len(QUESTIONS)}" for name, count in solved.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
