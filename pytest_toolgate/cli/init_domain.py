"""`toolgate init --domain`: the package of a new domain, which works as it is written."""

import keyword
import re
import sys
import uuid
from importlib.metadata import packages_distributions
from pathlib import Path
from string import Template

from ..domains import domain_names
from . import domain_template
from .errors import CommandError
from .new import write_new

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,58}[a-z0-9])?")


def write_domain(name: str, package: str | None, directory: Path) -> None:
    """Write `toolgate-domain-NAME` into a directory; nothing is overwritten.

    Args:
        name: Name of the domain.
        package: Top-level package of the software, as scripts import it; None if it is called like the domain.
        directory: Where the new folder is made.

    Raises:
        CommandError: The name or the package cannot be used, or the folder is there already.
    """
    if not _NAME.fullmatch(name):
        raise CommandError(
            f"the name `{name}` is not of the form [a-z0-9_-]+ with a letter or digit at both ends "
            "(60 characters at most)"
        )
    if name in domain_names():
        raise CommandError(f"the domain `{name}` is installed already; choose another name")
    root = directory / f"toolgate-domain-{name}"
    if root.exists():
        raise CommandError(f"{root} exists; nothing was written")
    module = f"toolgate_domain_{name.replace('-', '_')}"
    imported = _package(name.replace("-", "_") if package is None else package)
    software = sorted(set(packages_distributions().get(imported, [imported])))
    values = {
        "name": name,
        "distribution": root.name,
        "module": module,
        "package": imported,
        "check": f"{name.replace('_', '-')}-stderr",
        "software": ", ".join(f'"{distribution}"' for distribution in software),
        "canary": str(uuid.uuid4()),
    }
    for place, text in (
        ("pyproject.toml", domain_template.PYPROJECT),
        (f"{module}/__init__.py", domain_template.DOMAIN),
        (f"{module}/checks.py", domain_template.CHECKS),
        (f"{module}/guide.md", domain_template.GUIDE),
        (f"{module}/seeds/first.yaml", domain_template.SEED),
    ):
        write_new(root / place, Template(text).substitute(values))


def _package(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or keyword.iskeyword(name):
        raise CommandError(
            f"`{name}` is no name that a script can import; name the software's top-level package with --package"
        )
    if name in sys.stdlib_module_names:
        raise CommandError(
            f"`{name}` is part of Python, where its use cannot be told; name an installed package with --package"
        )
    return name
