"""Judge the answer file of a task: 1 if it holds the letter of the reproduced option, or its exact text, else 0."""

import json
import os
import stat
import sys
from pathlib import Path

_MOST_BYTES = 1024


def reward(answer_file: Path, expected_file: Path) -> int:
    """The reward."""
    expected = json.loads(expected_file.read_text("utf-8"))
    try:
        # A link is not followed, and a pipe is not waited for.
        handle = os.open(answer_file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return 0
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return 0
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        return 0
    answer = content.decode("utf-8", "replace").strip()
    return int(answer in (expected["answer"], expected["value"].strip()))


if __name__ == "__main__":
    print(reward(Path(sys.argv[1]), Path(sys.argv[2])))
