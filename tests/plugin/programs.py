"""Agents' own programs, as `scripts/install-agents` puts them beside the Python that runs the tests."""

import sys
from pathlib import Path

_HOME = Path(sys.prefix) / "agents" / "node_modules"
CODEX = _HOME / ".bin" / "codex"
CLAUDE = _HOME / ".bin" / "claude"
MINI = Path(sys.prefix) / "agents" / "mini" / "bin" / "mini"
