"""The page on tiers names every remedy that the probe knows, in the probe's own words."""

import re

import pytest

from pytest_toolgate.sandbox.probe import Machine, remedy

from .pages import ROOT

PAGE = (ROOT / "docs/sandbox-tiers.md").read_text("utf-8")
_APPARMOR = {"kernel/apparmor_restrict_unprivileged_userns": "1"}
CASES = {
    "old": ("bwrap: Unknown option --disable-userns", Machine()),
    "Ubuntu": ("bwrap: setting up uid map: Permission denied", Machine(sysctls=_APPARMOR)),
    "GitHub": ("bwrap: setting up uid map: Permission denied", Machine(github=True, sysctls=_APPARMOR)),
    "Debian": ("bwrap: No permissions", Machine(sysctls={"kernel/unprivileged_userns_clone": "0"})),
    "none left": ("bwrap: Creating new namespace failed: (ENOSPC)", Machine()),
    "container": ("bwrap: No permissions to create new namespace", Machine(container=True)),
    "container as root": ("bwrap: Operation not permitted", Machine(root=True, container=True)),
    "root": ("bwrap: Operation not permitted", Machine(root=True)),
    "capabilities": ("bwrap: Unexpected capabilities but not setuid, old file caps config?", Machine()),
    "kernel": ("bwrap: the kernel does not support user namespaces", Machine()),
}


@pytest.mark.parametrize("case", CASES)
def test_the_remedy_is_on_the_page(case: str) -> None:
    advice = remedy(*CASES[case]).partition("); ")[2].partition("; or, with less isolation")[0]
    command = re.sub(r"^.*?(type: |start the container with: |ambient capabilities; type: )", "", advice)
    assert command in PAGE.replace("`", "")


def test_the_page_is_found_from_where_the_key_is_explained() -> None:
    assert "(sandbox-tiers.md)" in (ROOT / "docs/configuration.md").read_text("utf-8")
