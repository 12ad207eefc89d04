"""Run the pickled job that comes on stdin, and hand back what became of it the same way."""

import pickle
import sys
from pathlib import Path

from pytest_toolgate.sandbox import Job, Limits, SandboxError, inspect_interpreter, run

script, limits, fields = pickle.load(sys.stdin.buffer)
try:
    interpreter = inspect_interpreter(Path(sys.executable), ("numpy",))
    result: object = run(Job(interpreter, script, limits=Limits(**limits), **fields))
except SandboxError as error:
    result = error
pickle.dump(result, sys.stdout.buffer)
