"""On the study's proportions the report shows the study's own findings."""

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from study_database import PILOT, write_study

from pytest_toolgate.cli.main import main

LOOP = f"loop/{PILOT}"
AUDITS = "gpt-5.4,opus-4.8,gpt-5.5-medium,fenicsx"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("study") / "toolgate.db"
    begun = time.monotonic()
    write_study(path)
    assert time.monotonic() - begun < 30, "a second, on a machine that does nothing else"
    return path


@pytest.fixture(scope="module")
def report(database: Path) -> Mapping[str, Any]:
    from pytest_toolgate.analysis import analyse
    from pytest_toolgate.store import Store

    store = Store(database)
    found = analyse(store, AUDITS.split(","))
    store.close()
    told: Mapping[str, Any] = json.loads(json.dumps(found.plain()))
    return told


def findings(report: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    return [finding for finding in report["findings"] if finding["key"] == key]


def pair(pairs: list[Mapping[str, Any]], first: str, second: str) -> Mapping[str, Any]:
    found: Mapping[str, Any]
    [found] = [each for each in pairs if (each["first"], each["second"]) == (first, second)]
    return found


def screen(report: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any]
    [found] = [each for each in report["screens"] if each["screen"] == name]
    return found


def test_the_construction_run(report: Mapping[str, Any]) -> None:
    table = [(step["in"], step["removed"], step["out"], step["no_verdict"]) for step in report["funnel"]]
    assert table == [(500, 22, 478, 0), (478, 260, 218, 0), (218, 6, 212, 0)]


def test_the_reported_pool(report: Mapping[str, Any]) -> None:
    table = [(stage["in"], stage["removed"], stage["out"]) for stage in report["reported_pool"]["stages"]]
    assert table == [(500, 22, 478), (478, 127, 351), (351, 95, 256), (256, 121, 135), (135, 5, 130), (130, 2, 128)]


def test_the_generators_letter(report: Mapping[str, Any]) -> None:
    assert report["answers"]["letters"]["C"]["percent"] == 43.9
    [finding] = findings(report, "letter-of-answers")
    assert (finding["letter"], finding["count"], finding["of"], finding["warning"]) == ("C", 210, 478, True)


def test_the_screens_letter_and_its_accuracy(report: Mapping[str, Any]) -> None:
    pilot = screen(report, LOOP)
    assert (pilot["order"], pilot["calls"]["of"]) == ("fixed", 1434)
    assert round(pilot["chosen_letter"]["C"]["percent"]) == 66
    assert pilot["accuracy_at_favourite"]["percent"] == 86.0
    assert pilot["accuracy_elsewhere"]["percent"] == 29.4
    assert pilot["accuracy_by_letter"] == pilot["accuracy_by_position"], "in fixed order they are the same"


def test_accuracy_by_position_after_the_shuffle(report: Mapping[str, Any]) -> None:
    light = screen(report, "gpt-5.4")
    assert light["order"] == "shuffled"
    assert all(28 <= share["percent"] <= 33 for share in light["accuracy_by_position"].values())


def test_easy_labels_vanish(report: Mapping[str, Any]) -> None:
    [found] = report["fixed_against_shuffled"]
    assert (found["fixed"], found["shuffled"]) == (LOOP, "gpt-5.4")
    assert (found["easy_label_vanishes"]["count"], found["easy_label_vanishes"]["of"]) == (191, 260)
    assert findings(report, "fixed-order")[0]["warning"]


def test_the_middle_value(report: Mapping[str, Any]) -> None:
    [finding] = findings(report, "middle-value")
    assert (finding["score"]["percent"], round(finding["middle"]["percent"])) == (40.0, 80)
    assert finding["warning"]


def test_two_families(report: Mapping[str, Any]) -> None:
    found = pair(report["screen_agreement"], "gpt-5.4", "opus-4.8")
    assert (found["agree"]["count"], found["agree"]["of"], found["agree"]["percent"]) == (311, 478, 65.1)
    transfer = found["transfer"]
    assert (transfer["second_solves_of_first"]["count"], transfer["second_solves_of_first"]["percent"]) == (55, 43.3)
    failed = transfer["second_fails_of_first_failed"]
    assert (failed["count"], failed["of"], failed["percent"]) == (256, 351, 72.9)


def test_two_settings_of_one_model(report: Mapping[str, Any]) -> None:
    found = pair(report["screen_agreement"], "gpt-5.5-none", "gpt-5.5-medium")
    assert found["judged_by_both"] == 256
    assert found["both_solve"] + found["only_first_solves"] == 49
    assert found["both_solve"] + found["only_second_solves"] == 121
    assert found["only_first_solves"] > 0, "the two sets are not nested"


def test_solving_with_tools_transfers(report: Mapping[str, Any]) -> None:
    found = pair(report["solver_agreement"], "loop/codex", "other")
    transfer = found["transfer"]["second_solves_of_first"]
    assert (transfer["count"], transfer["of"], transfer["percent"]) == (209, 212, 98.6)
    [other] = [solver for solver in report["solvers"] if solver["solver"] == "other"]
    assert other["failures"] == {"timeout": 3}


def test_templates_and_repetitions(report: Mapping[str, Any]) -> None:
    accepted, reported = report["diversity"]
    assert (accepted["items"], accepted["templates"]["largest"]) == (212, 140)
    assert round(accepted["templates"]["largest_percent"]) == 66
    assert (accepted["exact_duplicates"]["removed"], reported["exact_duplicates"]["removed"]) == (5, 2)
    assert accepted["near_duplicates"]["pairs"]
    for group in accepted["exact_duplicates"]["groups"]:
        assert all(one["round"] > group["stays"]["round"] for one in group["removed"])


def test_time_and_money(report: Mapping[str, Any]) -> None:
    costs = report["costs"]
    stages = {(stage["stage"], stage["audit"]): stage for stage in costs["stages"]}
    assert (stages["generate", None]["calls"], stages["generate", None]["hours"]) == (500, 29.4)
    assert (stages["solve: codex", None]["calls"], stages["solve: codex", None]["hours"]) == (218, 5.49)
    # One model has no price, and what the agents' programs paid is in nobody's books.
    assert stages["screen: opus-4.8", "opus-4.8"]["usd"] is None
    assert stages["screen: opus-4.8", "opus-4.8"]["calls_of_unknown_price"] == 1419
    assert stages["screen: gpt-5.4", "gpt-5.4"]["usd"] == pytest.approx(1419 * 0.0005)
    assert costs["loop"]["calls_of_unknown_price"] == 718
    assert costs["per_accepted_item"]["usd"] is None
    assert costs["per_accepted_item"]["usd_known"] == pytest.approx(1419 * 0.0005 / 212, abs=1e-6)


def test_the_terminal_says_it_in_few_lines(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "--db", str(database), "--audits", AUDITS]) == 0
    told = capsys.readouterr().out
    assert len(told.splitlines()) <= 60
    for figure in ("43.9 %", "66.0 %", "86.0 %", "29.4 %", "191", "40.0 %", "43.3 %", "98.6 %", "65.1 %"):
        assert figure in told
    page = (Path(__file__).parents[2] / "docs" / "reports.md").read_text("utf-8")
    quoted = [line for line in page.splitlines() if line.startswith("  ! ")]
    assert len(quoted) == 5
    assert set(quoted) <= set(told.splitlines()), "docs/reports.md quotes what is not so"


def test_near_duplicates_are_listed(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "--db", str(database), "--near", "--similarity", "1.0"]) == 0
    told = capsys.readouterr().out
    assert "exact duplicates of 212 accepted items: 5" in told
    assert "none is removed" in told
