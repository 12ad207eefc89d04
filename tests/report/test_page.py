"""The report in headless Chromium: phone and desktop, light and dark, by keyboard, and without any request."""

import itertools
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from study_database import write_study

from pytest_toolgate.cli.main import main

from .browser import Opened, opened

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

PHONE, DESKTOP = (360, 740), (1280, 800)
HOSTILE = (
    "</script><script>document.title = 'harm'</script><img src=x onerror=\"document.title = 'harm'\"> \u202eabc\u2028"
)
LONG = "w" * 1_000_000
AUDITS = "gpt-5.4,opus-4.8,gpt-5.5-medium,fenicsx"
# The contrast of every text with what is behind it, by the formula of WCAG 2.2; plots lie on the card.
CONTRAST = """() => {
  const context = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
  const read = (color) => { context.clearRect(0, 0, 1, 1); context.fillStyle = color; context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data]; };
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (element) => { for (let at = element; at; at = at.parentElement) {
    const color = read(getComputedStyle(at).backgroundColor); if (color[3] === 255) return color; }
    return [255, 255, 255]; };
  const poor = new Map(); let looked = 0;
  for (const element of document.querySelectorAll("body *")) {
    if (element.closest("desc, title, script, style")) continue;
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own) continue;
    const style = getComputedStyle(element);
    const [a, b] = [light(read(element instanceof SVGElement ? style.fill : style.color)), light(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05); looked += 1;
    if (ratio < 4.5) poor.set(`${element.tagName}.${element.getAttribute("class")}`, ratio);
  }
  return {looked, poor: [...poor]};
}"""
FOCUSED = """() => { const at = document.activeElement; return {
  tag: at.tagName, text: (at.getAttribute("aria-label") ?? at.textContent).trim().slice(0, 60),
  top: at.getBoundingClientRect().top + scrollY, outlined: getComputedStyle(at).outlineStyle !== "none",
}; }"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the study, in which somebody has written harmful and huge texts."""
    home = tmp_path_factory.mktemp("report")
    database = home / "toolgate.db"
    write_study(database)
    with sqlite3.connect(database) as connection:
        for place, text in ((0, HOSTILE), (1, LONG), (2, "x\u0301" * 3000)):
            row = f"(SELECT rowid FROM outcomes WHERE outcome = 'rejected' ORDER BY rowid LIMIT 1 OFFSET {place})"
            connection.execute(f"UPDATE outcomes SET sentence = ? WHERE rowid = {row}", [text])
            row = f"(SELECT rowid FROM candidates ORDER BY rowid LIMIT 1 OFFSET {place})"
            connection.execute(
                f"UPDATE candidates SET content = json_set(content, '$.question', ?) WHERE rowid = {row}", [text]
            )
        connection.execute("UPDATE attempts SET path = ? WHERE rowid = 7", [HOSTILE])
        connection.execute("UPDATE replies SET screen = ? WHERE screen = 'opus-4.8'", [f"{HOSTILE}{'n' * 200}"])
    connection.close()
    file = home / "report.html"
    assert main(["report", "--db", str(database), "--html", str(file), "--audits", AUDITS]) == 0
    return file


def opened_at(
    report: Path, tmp_path: Path, size: tuple[int, int], scheme: Literal["light", "dark"] = "light", script: bool = True
) -> Iterator[Opened]:
    with opened(report, tmp_path / "profile", width=size[0], height=size[1], scheme=scheme, script=script) as found:
        yield found


@pytest.fixture(params=["phone light", "phone dark", "desktop light", "desktop dark"])
def page(request: pytest.FixtureRequest, report: Path, tmp_path: Path) -> Iterator[Opened]:
    device, scheme = request.param.split()
    yield from opened_at(report, tmp_path, PHONE if device == "phone" else DESKTOP, scheme)


@pytest.fixture
def desktop(report: Path, tmp_path: Path) -> Iterator[Opened]:
    yield from opened_at(report, tmp_path, DESKTOP)


@pytest.fixture
def still(report: Path, tmp_path: Path) -> Iterator[Opened]:
    yield from opened_at(report, tmp_path, PHONE, script=False)


def open_all(found: Opened) -> None:
    found.page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true; })")


def test_it_fits_and_can_be_read(page: Opened, report: Path) -> None:
    open_all(page)
    width = page.page.evaluate("() => [document.documentElement.scrollWidth, innerWidth]")
    assert width[0] <= width[1], "the page scrolls sideways"
    plots = page.page.evaluate(
        "() => [...document.querySelectorAll('svg[role=img] text')].map((text) => [text.textContent, "
        "text.getBoundingClientRect(), text.closest('svg').getBoundingClientRect()])"
        ".filter(([, text, plot]) => text.left < plot.left - 1 || text.right > plot.right + 1).map(([text]) => text)"
    )
    assert not plots, "texts that leave their plot"
    contrast = page.page.evaluate(CONTRAST)
    assert contrast["looked"] > 1000
    assert contrast["poor"] == []
    assert page.complaints == []
    assert page.requests == [report.as_uri()]


def test_labels_do_not_run_into_figures(page: Opened) -> None:
    """Of each row of a plot, the label ends before the figures begin."""
    over = page.page.evaluate(
        "() => [...document.querySelectorAll('svg[role=img] text.value')].filter((value) => "
        "value.previousElementSibling.getBoundingClientRect().right > value.getBoundingClientRect().left)"
        ".map((value) => value.previousElementSibling.textContent)"
    )
    assert over == []


def test_plots_and_lists_have_names(desktop: Opened) -> None:
    unnamed = desktop.page.evaluate(
        "() => [...document.querySelectorAll('svg[role=img], [role=region], nav, section, input')].filter((one) => "
        "!(one.getAttribute('aria-label') || one.getAttribute('aria-labelledby') || one.labels?.length)).length"
    )
    assert unnamed == 0
    assert desktop.page.evaluate("() => document.documentElement.lang") == "en"
    assert desktop.page.locator("h1").count() == 1
    assert desktop.page.locator("header, main, nav, footer").count() == 4
    levels = desktop.page.evaluate("() => [...document.querySelectorAll('h1, h2, h3')].map((one) => +one.tagName[1])")
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


def test_the_keyboard_reaches_everything_in_order(desktop: Opened) -> None:
    tabs = desktop.page
    # The lists are long; one item of each is enough to come to what follows.
    tabs.evaluate("() => document.querySelectorAll('.items > li:nth-child(n+2)').forEach((one) => one.remove())")
    expected = tabs.evaluate(
        "() => [...document.querySelectorAll('a, input, summary, [tabindex=\"0\"]')]"
        ".filter((one) => one.checkVisibility()).length"
    )
    reached = []
    for _ in range(expected):
        tabs.keyboard.press("Tab")
        reached.append(tabs.evaluate(FOCUSED))
    assert reached[0]["text"] == "To the report"
    assert all(one["outlined"] for one in reached)
    tops = [one["top"] for one in reached[1:]]
    assert tops == sorted(tops), "the order of Tab is that of the page"
    assert sum(one["tag"] == "INPUT" for one in reached) == 2
    tabs.keyboard.press("Tab")
    assert tabs.evaluate(FOCUSED)["tag"] == "BODY", "nothing that Tab reaches was left out"


def test_details_open_by_the_keyboard(desktop: Opened) -> None:
    item = desktop.page.locator("#accepted-items > li").nth(5)
    item.locator("summary").first.focus()
    desktop.page.keyboard.press("Enter")
    desktop.page.keyboard.press("Tab")
    desktop.page.keyboard.press("Enter")
    assert '"question"' in item.locator("pre").first.inner_text()


def test_the_search_filters(desktop: Opened) -> None:
    rows = desktop.page.locator("#rejected-items > li")
    box = desktop.page.locator("#rejected input")
    told = desktop.page.locator("#rejected output")
    assert told.inner_text() == "288 of 288 shown"
    box.focus()
    desktop.page.keyboard.type("Mismatch")
    assert told.inner_text() == "22 of 288 shown"
    assert rows.locator("visible=true").count() > 0
    desktop.page.keyboard.type(" 0000-no-such")
    assert told.inner_text() == "0 of 288 shown"
    box.fill("")
    assert told.inner_text() == "288 of 288 shown"


def test_every_item_is_there_with_its_evidence(desktop: Opened) -> None:
    assert desktop.page.locator("#rejected-items > li").count() == 288
    assert desktop.page.locator("#accepted-items > li").count() == 212
    easy = desktop.page.locator("#rejected-items > li", has_text="rejected at screen: too-easy").first
    told = easy.text_content() or ""
    assert "screen pilot, call 1" in told
    assert "script run 1" in told
    record = desktop.page.locator("#accepted-items > li").first.text_content() or ""
    for part in ("script_runs", "replies", "agent_runs", "generator"):
        assert part in record


def test_strangers_texts_do_nothing(desktop: Opened) -> None:
    open_all(desktop)
    desktop.page.wait_for_timeout(300)
    assert desktop.page.title().startswith("toolgate report")
    assert desktop.page.locator("script").count() == 1
    assert desktop.page.locator("img").count() == 0
    assert desktop.complaints == []


def test_without_its_script_everything_is_shown(still: Opened) -> None:
    assert still.page.locator("#rejected-items > li").first.is_visible()
    assert not still.page.locator("#rejected .search").is_visible()
