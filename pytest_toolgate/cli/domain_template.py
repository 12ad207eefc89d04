"""The files of a new domain's package: `$name` and the like are filled in by `init_domain`."""

PYPROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "$distribution"
version = "0.1.0"
description = "The domain $name for pytest-toolgate."
requires-python = ">=3.12"
# The software itself belongs here only if it runs in the same environment as pytest.
dependencies = ["pytest-toolgate"]

[project.entry-points."pytest_toolgate.domains"]
$name = "$module:DOMAIN"

[project.entry-points."pytest_toolgate.checks"]
$check = "$module.checks:stderr"

[tool.hatch.build.targets.wheel]
packages = ["$module"]
"""

DOMAIN = '''\
"""The domain `$name` of pytest-toolgate."""

from pathlib import Path

from pytest_toolgate.domains import Domain

_HERE = Path(__file__).parent
# Run in the sandbox before the first script of a run. It should do the smallest thing that fails where scripts would:
# check out a licence, compile, open a device. The last line on stderr says what is wrong and what to do about it.
_PROOF = """
import sys

import $package

if getattr($package, "__file__", None) is None:
    sys.exit("$package is a folder without the software; install it anew")
"""

DOMAIN = Domain(
    name="$name",  # the same as the entry point's
    title="$name",
    packages=("$package",),  # import names; a script must run one of them
    distributions=($software,),  # versions that are recorded, with those of all they depend on
    proof=_PROOF,
    notes="$package is installed.",  # what an agent is told with `hints: true`
    guide=(_HERE / "guide.md").read_text("utf-8"),
    seeds=_HERE / "seeds",
    checks=("perturb", "$check"),  # what candidates must bear after verification; see checks.py
    # python=Path("/path/to/python"),  # the interpreter that has the software, if it is not pytest's own
)
'''

CHECKS = '''\
"""Extra checks of the domain `$name`: what an expert would notice of a script that has passed verification."""

from pytest_toolgate.checks import CheckResult, CheckTask


def stderr(task: CheckTask) -> CheckResult:
    """Flag a script to which the software has had something to say. Put what your software warns of in its place."""
    said = task.run_script().stderr.strip()
    if not said:
        return CheckResult("passed")
    return CheckResult("flagged", f"standard error is not empty: {said.splitlines()[-1]}", evidence=said)
'''

GUIDE = """\
# $name, for authors of questions

## The software

What it is, in a few sentences, and which version this guide is about.

## The interface

The calls that scripts need, each as code that was run with this version. Pitfalls stand where they occur.

```python
import $package
```

## Which questions need it

What nobody knows without running it. And what is bad material: values from a table, defaults, names, error messages.

## What must be stated

Everything that fixes the answer: the model, its data, the discretisation, tolerances, conventions, and the number of
decimals.

## The script

It prints one line, `ANSWER: ` and the value with all stated decimals. It is deterministic, takes a few seconds, and
ends with an error where the software says that it failed.

## Mistakes to build distractors from

Run each mistake; never invent a value.

- Mistakes of modelling:
- Mistakes of implementation:
"""

SEED = """\
# A first seed: it passes the gates lint and verify. Put a question in its place that needs the software.
id: $name-first
domain: $name
tags: [example]
question: |
  Give the sum of k exp(-k / 4) over k = 1, 2, ..., 12 to four decimals.
options:
  A: "13.0210"
  B: "12.4235"
  C: "15.9169"
  D: "12.8136"
answer: A
distractors:
  B: The sum ends at k = 11.
  C: The sum is taken to infinity.
  D: The integral from 0 to 12 is given in place of the sum.
solution: |
  import math

  import $package  # noqa: F401

  print(f"ANSWER: {math.fsum(k * math.exp(-k / 4) for k in range(1, 13)):.4f}")
metadata:
  # Known to nobody who has not seen this file: an agent that shows it did not solve the question alone.
  canary: $canary
"""
