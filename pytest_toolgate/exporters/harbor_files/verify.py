"""Judge the answer file of a task: 1 for the reproduced option, else 0. It holds a letter, or an option's exact text."""

import json
import os
import stat
import sys

_MOST_BYTES = 1024


def reward(answer_file, expected_file):
    """The reward."""
    with open(expected_file, encoding="utf-8") as file:
        expected = json.load(file)
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
    print(reward(sys.argv[1], sys.argv[2]))
