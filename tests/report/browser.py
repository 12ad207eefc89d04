"""A Chromium that opens a file and tells what it was asked for and what it complained of."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from playwright.sync_api import Page, sync_playwright

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
_ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)


@dataclass(slots=True)
class Opened:
    """A file in a browser.

    Attributes:
        page: What Playwright knows of it.
        requests: Every address that was asked for.
        complaints: What the console said, and errors of scripts.
    """

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


@contextmanager
def opened(
    file: Path,
    profile: Path,
    *,
    width: int,
    height: int,
    scheme: Literal["light", "dark"] = "light",
    script: bool = True,
) -> Iterator[Opened]:
    """Open a file from disk with a profile of its own.

    Args:
        file: The file.
        profile: A directory for the profile.
        width: Of the window, in CSS pixels.
        height: Of the window.
        scheme: Which colours the user prefers.
        script: Whether scripts run.
    """
    program = next((path for name in _PROGRAMS if (path := shutil.which(name))), None)
    assert program, "there is no Chromium: scripts/install-browser"
    with sync_playwright() as driver:
        context = driver.chromium.launch_persistent_context(
            profile,
            executable_path=program,
            headless=True,
            args=_ARGUMENTS,
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            java_script_enabled=script,
        )
        try:
            found = Opened(context.pages[0])
            context.on("request", lambda request: found.requests.append(request.url))
            found.page.on("console", lambda message: found.complaints.append(message.text))
            found.page.on("pageerror", lambda error: found.complaints.append(str(error)))
            found.page.goto(file.as_uri())
            yield found
        finally:
            context.close()
