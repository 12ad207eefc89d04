"""`toolgate init`: a configuration and a first candidate, for a repository that has neither; or a new domain."""

import argparse
import uuid
from pathlib import Path

from .errors import CommandError
from .init_domain import write_domain
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
metadata:
  # Known to nobody who has not seen this file: an agent that shows it did not solve the question alone.
  canary: <canary>
"""


def declare(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("init", help="write toolgate.yaml and a first candidate, or the package of a domain")
    parser.add_argument("directory", nargs="?", type=Path, default=Path(), help="where to write (default: here)")
    parser.add_argument("--domain", metavar="NAME", help="write the package of a new domain, and nothing else")
    parser.add_argument("--package", metavar="PKG", help="with --domain: what scripts import (default: NAME)")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Write both files, or those of a domain; nothing is overwritten."""
    if options.domain is not None:
        write_domain(options.domain, options.package, options.directory)
        return 0
    if options.package is not None:
        raise CommandError("--package says what scripts of a new domain import; name the domain with --domain")
    files = {
        options.directory / "toolgate.yaml": CONFIGURATION,
        options.directory / "candidates" / "bessel-zero-product.yaml": CANDIDATE.replace("<canary>", str(uuid.uuid4())),
    }
    for path in files:
        if path.exists():
            raise CommandError(f"{path} exists; nothing was written")
    for path, text in files.items():
        write_new(path, text)
    return 0
