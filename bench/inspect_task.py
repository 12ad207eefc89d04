"""The work of a screen as a task of Inspect AI, run by `screens.py` in an environment of its own.

    python bench/inspect_task.py QUESTIONS LOGS EPOCHS CONNECTIONS

QUESTIONS is a JSON list of candidates. The server's address is in the environment. Prints one JSON object: the version
of Inspect AI, how its run ended, and how many samples have which score. Replies in which it found no choice are left out.
"""

import json
import sys
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from random import Random

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import choice
from inspect_ai.solver import multiple_choice


def main(questions: str, logs: str, epochs: str, connections: str) -> None:
    """Evaluate and print."""
    samples = [
        Sample(input=item["question"], choices=list(item["options"].values()), target=item["answer"])
        for item in json.loads(Path(questions).read_text("utf-8"))
    ]
    # Choices of a dataset are shuffled once for all epochs. Only the solver's older parameter draws anew for each call.
    task = Task(dataset=MemoryDataset(samples), solver=multiple_choice(shuffle=Random(0)), scorer=choice())
    [log] = eval(
        task,
        model="openai-api/bench/bench-model",
        epochs=int(epochs),
        max_connections=int(connections),
        display="none",
        log_level="error",
        log_dir=logs,
    )
    graded = [sample.scores["choice"] for sample in log.samples or () if sample.scores]
    scores = Counter(str(score.value) for score in graded if score.answer)
    print(json.dumps({"version": version("inspect_ai"), "status": log.status, "scores": scores}))


if __name__ == "__main__":
    main(*sys.argv[1:])
