"""`toolgate init`: a configuration and a first candidate, for a repository that has neither."""

import argparse
from pathlib import Path

from .errors import CommandError
from .new import write_new

CONFIGURATION = """\
# See docs/configuration.md of pytest-toolgate for every key.
domain: scipy
providers:
  local: {kind: llama-cpp}   # embedded model: no key, no server to start; `toolgate model fetch` gets it once
  # openai: {api: responses, api_key_env: OPENAI_API_KEY}
  # lab:    {api: chat, base_url: "http://127.0.0.1:8000/v1"}
verify: {time_limit: 300}
screens:
  - {name: local, provider: local, model: qwen2.5-coder-1.5b-instruct-q4_k_m, max_output_tokens: 64}
solve: {agent: builtin, provider: local, model: qwen2.5-coder-1.5b-instruct-q4_k_m, max_output_tokens: 1024}
"""

CANDIDATE = """\
id: bessel-zero-product
domain: scipy
question: |
  Let j_k be the k-th positive zero of the Bessel function J_0. Give j_3 * J_1(j_3)^2 to five decimals.
options:
  A: "0.64813"
  B: "0.63662"
  C: "0.63912"
  D: "0.63766"
answer: D
distractors:
  A: The first zero is taken instead of the third.
  B: The limit 2 / pi of large k is given.
  C: Zeros are counted from 0, and the second one is taken.
solution: |
  from scipy.special import j1, jn_zeros

  zero = jn_zeros(0, 3)[-1]
  print(f"ANSWER: {zero * j1(zero) ** 2:.5f}")
"""


def declare(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("init", help="write toolgate.yaml and a first candidate")
    parser.add_argument("directory", nargs="?", type=Path, default=Path(), help="repository (default: here)")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Write both files; nothing is overwritten."""
    files = {
        options.directory / "toolgate.yaml": CONFIGURATION,
        options.directory / "candidates" / "bessel-zero-product.yaml": CANDIDATE,
    }
    for path in files:
        if path.exists():
            raise CommandError(f"{path} exists; nothing was written")
    for path, text in files.items():
        write_new(path, text)
    return 0
