"""Run the released script on a problem, and write the letter of the option that it comes to."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

_MARK = "ANSWER:"


def answer(problem_file, script):
    """The letter: of the one answer line, by the rule by which the item was verified."""
    from candidate.matching import match_answer  # beside this file: the rule is pytest-toolgate's own

    with open(problem_file, encoding="utf-8") as file:
        options = json.load(file)["options"]
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(problem_file, os.path.join(folder, "problem.json"))
        shutil.copy(script, os.path.join(folder, "solution.py"))
        done = subprocess.run([sys.executable, "solution.py"], cwd=folder, stdout=subprocess.PIPE, check=True)
    lines = [line for line in done.stdout.decode("utf-8", "replace").split("\n") if line.startswith(_MARK)]
    if len(lines) != 1:
        sys.exit("the script has printed {} answer lines".format(len(lines)))
    match = match_answer(lines[0][len(_MARK) :], options)
    return match.letter or sys.exit(match.sentence)


if __name__ == "__main__":
    found = answer(sys.argv[1], sys.argv[2])
    with open(sys.argv[3], "w", encoding="utf-8") as file:
        file.write(found)
