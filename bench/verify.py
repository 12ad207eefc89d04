"""What verification costs, against the same scripts run without any protection in the same session.

    python bench/verify.py [--rounds 3] [--workers 2,4] [--only default,peer-fresh] [--quick]

Forty FEniCSx scripts, each with forms of its own. The peer is a pytest-xdist test that calls `subprocess.run`; nothing
is faster than a fork of one process that has everything imported. Fresh forms are compiled by each script anew, as
always in a sandbox that is not warm. Throughput in scripts per second is taken four ways: over the whole process; from
the moment the first script's turn comes to the last verdict; from the first script's start to the last one's end; and
per second of processor time, which says most where others use the machine too. Contestants take turns, so that a busy
machine is busy for all; each is shown at the number of workers that suits it best, and ratios are taken round by round.
Fails only when a verdict is missing or wrong.

`--workers 1,2,4,8,32 --only default` shows that more workers than cores change neither verdicts nor throughput.
"""

import argparse
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from verify_contestants import CORES, WAYS, Arena, Contestant, Measured
from verify_scripts import COUNT, scripts

# Ours, whom it is measured by, at least so many times as fast; None where no figure is asked for.
_TARGETS = (
    ("default", "peer-fresh", 1.0),
    ("default", "peer", None),
    ("warm-fresh", "peer-fresh", 2.0),
    ("warm", "peer", 6.0),
    ("warm", "peer-fresh", None),
    ("warm", "limit", 1 / 3),
)
# What each script should come to, with whatever number of workers.
_GOOD = {"passed", "answered", "provisional"}
Runs = dict[tuple[str, int], list[Measured]]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("-n", "--workers", default=f"{CORES},{2 * CORES}", help="numbers of workers, with commas")
    parser.add_argument("--only", default="", help="contestants, with commas")
    parser.add_argument("--quick", action="store_true", help="four scripts, once: does it work at all?")
    given = parser.parse_args()
    workers = [CORES] if given.quick else [int(number) for number in given.workers.split(",")]
    rounds = 1 if given.quick else given.rounds
    with tempfile.TemporaryDirectory(prefix="toolgate-bench-") as directory:
        arena = Arena(Path(directory), scripts(4 if given.quick else COUNT))
        arena.prepare()
        everybody = arena.contestants()
        absent = [each for each in everybody if isinstance(each, str)]
        present = [each for each in everybody if not isinstance(each, str)]
        only = set(filter(None, given.only.split(",")))
        if unknown := only - {each.key for each in present}:
            parser.error(f"not a contestant: {', '.join(sorted(unknown))}")
        present = [each for each in present if not only or each.key in only]
        runs = _take_turns(present, workers, rounds)
    print(f"{len(arena.scripts)} scripts on {CORES} cores, {rounds} rounds; scripts per second, median (least - most)")
    _show(present, runs)
    for name in absent:
        print(f"{name:32} absent: this version has no `verify.warm`")
    _show_ratios(present, runs)
    if len(workers) > 1:
        _show_workers(present, runs, workers)
    wrong = _wrong(present, runs, len(arena.scripts))
    print(*wrong or ["every run of a contestant came to the same verdicts, all of them right"], sep="\n")
    return 1 if wrong else 0


def _take_turns(present: Sequence[Contestant], workers: Sequence[int], rounds: int) -> Runs:
    runs: Runs = {}
    turns = [(each, number) for number in workers for each in present if not each.alone]
    turns += [(each, CORES) for each in present if each.alone]
    for number in range(rounds):
        for each, count in turns[:: -1 if number % 2 else 1]:
            runs.setdefault((each.key, count), []).append(each.run(count))
            rates = "  ".join(
                f"{way} {rate:.2f}" for way, rate in zip(WAYS, runs[each.key, count][-1].rates, strict=True)
            )
            print(f"round {number + 1}  -n {count:<2}  {each.key:10}  {rates}", file=sys.stderr, flush=True)
    return runs


def _series(runs: Runs, key: str, way: int) -> tuple[int, list[float]]:
    """The number of workers that suits a contestant best, and its throughput in every round then."""
    found = {count: [run.rates[way] for run in measured] for (name, count), measured in runs.items() if name == key}
    return max(found.items(), key=lambda item: statistics.median(item[1]))


def _spread(values: Sequence[float]) -> str:
    return f"{statistics.median(values):6.2f} ({min(values):5.2f} - {max(values):5.2f})"


def _show(present: Sequence[Contestant], runs: Runs) -> None:
    print(f"{'':32}" + "".join(f"{way:>23} -n" for way in WAYS))
    for each in present:
        columns = [_series(runs, each.key, way) for way in range(len(WAYS))]
        print(f"{each.name:32}" + "".join(f"{_spread(values):>23} {count:2}" for count, values in columns))


def _show_ratios(present: Sequence[Contestant], runs: Runs) -> None:
    names: Mapping[str, str] = {each.key: each.name for each in present}
    for ours, other, target in _TARGETS:
        if ours not in names or other not in names:
            continue
        ratios = []
        for way in range(len(WAYS)):
            pairs = zip(_series(runs, ours, way)[1], _series(runs, other, way)[1], strict=True)
            ratios.append([mine / theirs for mine, theirs in pairs])
        said = "" if target is None else f"target {target:.2f}: " + _met(ratios[WAYS.index("scripts")], target)
        print(f"{names[ours]} : {names[other]}")
        print(f"{'':32}" + "".join(f"{_spread(values):>23}   " for values in ratios) + said)


def _met(ratios: Sequence[float], target: float) -> str:
    return "met" if statistics.median(ratios) >= target else "missed"


def _show_workers(present: Sequence[Contestant], runs: Runs, workers: Sequence[int]) -> None:
    """Throughput at each number of workers, and what share of the best it is."""
    for way in (0, 2, 3):
        print(f"{WAYS[way]:32}" + "".join(f"{f'-n {count}':>16}" for count in workers))
        for each in present:
            if each.alone:
                continue
            medians = [statistics.median(run.rates[way] for run in runs[each.key, count]) for count in workers]
            shares = "".join(f"{value:8.2f} ({value / max(medians):4.0%})" for value in medians)
            print(f"{each.name:32}" + shares)


def _wrong(present: Sequence[Contestant], runs: Runs, count: int) -> list[str]:
    """What is missing or differs, a line each."""
    lines = []
    for each in present:
        for (key, workers), measured in runs.items():
            for run in measured if key == each.key else ():
                bad = {name: verdict for name, verdict in run.verdicts.items() if verdict not in _GOOD}
                if len(run.verdicts) != count or bad:
                    lines.append(f"{each.name}, -n {workers}: {len(run.verdicts)} verdicts, wrong ones: {bad}")
    return lines


if __name__ == "__main__":
    sys.exit(main())
