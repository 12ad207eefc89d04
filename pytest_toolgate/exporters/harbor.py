"""`harbor`: a task directory of Harbor for each item.

An agent sees `instruction.md` and what `environment/` builds. Harbor brings `tests/` when the agent is done, and
`solution/` to its oracle alone; so script and answer stand there and nowhere else.
"""

import json
import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from ..release.items import Item, Release

AGENT_SECONDS: Final = 300.0
"""An agent's time, as in the study that the method comes from."""
_FILES: Final = "pytest_toolgate.exporters.harbor_files"
# What says which option a printed value stands for: these modules of this package import each other and nothing else.
_RULE_FILES: Final = ("matching.py", "model.py", "numbers.py", "unicode_form.py")
_RULE: Final = '"""Which option a printed value stands for: from pytest-toolgate, under the Apache License 2.0."""\n'
_VERSION: Final = re.compile(r"[0-9]+(\.[0-9]+)*([a-z0-9.+]*)")
_DISTRIBUTION: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_PYTHON: Final = re.compile(r"3\.[0-9]+")
_OTHER_PYTHON: Final = "3.12"
# Nothing of a stranger comes into a Dockerfile: versions and names of distributions are checked.
_DOCKERFILE: Final = """\
# {canary}
FROM python:{python}-slim
{compiler}{software}WORKDIR /app
COPY problem.json /app/problem.json
"""
_COMPILER: Final = (
    "RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*\n"
)
_INSTRUCTION: Final = """\
<!-- {canary} -->

Answer the question below. It stands in /app/problem.json too. The software that it is about is installed: use it.

Write the letter of one option into the file /app/answer.txt, and nothing else. You have {seconds:.0f} seconds.

## Question

{question}

## Options

{options}
"""
_TEST: Final = """\
#!/bin/sh
# {canary}
mkdir -p /logs/verifier
python3 -I -S /tests/verify.py /app/answer.txt /tests/expected.json > /logs/verifier/reward.txt
"""
_SOLVE: Final = """\
#!/bin/sh
# {canary}
set -e
python3 /solution/solve.py /app/problem.json /solution/solution.py /app/answer.txt
"""


def export(release: Release, folder: Path) -> None:
    """Write a task directory for each item, under its id."""
    for item in release.items:
        for name, content in task_files(item, release).items():
            path = folder / item.id / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, "utf-8", newline="")
            if path.suffix == ".sh":
                path.chmod(0o755)


def task_files(item: Item, release: Release) -> Mapping[str, str]:
    """Path in the task directory -> content."""
    canary = release.canary_line
    options = "\n".join(f"{letter}) {text}" for letter, text in item.options.items())
    return {
        "task.toml": _config(item, release),
        "instruction.md": _INSTRUCTION.format(
            canary=canary, seconds=AGENT_SECONDS, question=item.question, options=options
        ),
        "environment/Dockerfile": _dockerfile(item, canary),
        "environment/problem.json": _json({"id": item.id, "question": item.question, "options": dict(item.options)}),
        "tests/test.sh": _TEST.format(canary=canary),
        "tests/verify.py": _source(_FILES, "verify.py"),
        "tests/expected.json": _json({"answer": item.answer, "value": item.value, "options": dict(item.options)}),
        "solution/solve.sh": _SOLVE.format(canary=canary),
        "solution/solve.py": _source(_FILES, "solve.py"),
        "solution/solution.py": item.solution,
        "solution/candidate/__init__.py": _RULE,
        **{f"solution/candidate/{name}": _source("pytest_toolgate.candidate", name) for name in _RULE_FILES},
    }


def _config(item: Item, release: Release) -> str:
    """`task.toml`, of schema 1.4."""
    lines = [
        f"# {release.canary_line}",
        'schema_version = "1.4"',
        "",
        "[task]",
        f"name = {toml_text(f'{release.name}/item-{item.id}')}",
        f"version = {toml_text(release.date)}",
        f"keywords = [{', '.join(map(toml_text, item.tags))}]",
        "",
        "[metadata]",
        f"id = {toml_text(item.id)}",
        f"domain = {toml_text(item.domain)}",
        f"fingerprint = {toml_text(item.fingerprint)}",
        f"licence = {toml_text(release.licence)}",
        f"canary = {toml_text(release.canary)}",
        "",
        "[agent]",
        f"timeout_sec = {AGENT_SECONDS}",
        "",
        "[verifier]",
        "timeout_sec = 60.0",
        "",
        "[environment]",
        "build_timeout_sec = 1800.0",
        "cpus = 2",
        "memory_mb = 4096",
    ]
    return "\n".join([*lines, ""])


def toml_text(text: str) -> str:
    """A basic string of TOML."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _json(content: Mapping[str, Any]) -> str:
    return f"{json.dumps(content, indent=1)}\n"


def _dockerfile(item: Item, canary: str) -> str:
    pins = [
        f"{name}=={version}"
        for name, version in item.reproduced.packages.items()
        if _DISTRIBUTION.fullmatch(name) and _VERSION.fullmatch(version)
    ]
    python = _PYTHON.match(item.reproduced.python)
    return _DOCKERFILE.format(
        canary=canary,
        python=python[0] if python else _OTHER_PYTHON,
        compiler=_COMPILER if "fenics-ffcx" in item.reproduced.packages else "",
        software=f"RUN pip install --no-cache-dir {' '.join(pins)}\n" if pins else "",
    )


def _source(package: str, name: str) -> str:
    return files(package).joinpath(name).read_text("utf-8")
