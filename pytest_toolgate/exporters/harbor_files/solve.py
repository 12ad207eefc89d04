"""Run the released script on a problem, and write the letter of the option that it comes to."""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

_MARK = "ANSWER:"


def answer(problem: Path, script: Path) -> str:
    """The letter: of the one answer line, by the rule by which the item was verified."""
    from candidate.matching import match_answer  # beside this file: the rule is pytest-toolgate's own

    options = json.loads(problem.read_text("utf-8"))["options"]
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(problem, Path(folder, "problem.json"))
        shutil.copy(script, Path(folder, "solution.py"))
        done = subprocess.run([sys.executable, "solution.py"], cwd=folder, stdout=subprocess.PIPE, check=True)
    lines = [line for line in done.stdout.decode("utf-8", "replace").split("\n") if line.startswith(_MARK)]
    if len(lines) != 1:
        sys.exit(f"the script has printed {len(lines)} answer lines")
    match = match_answer(lines[0][len(_MARK) :], options)
    if match.letter is None:
        sys.exit(match.sentence)
    return str(match.letter)


if __name__ == "__main__":
    Path(sys.argv[3]).write_text(answer(Path(sys.argv[1]), Path(sys.argv[2])), "utf-8")
