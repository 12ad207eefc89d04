"""What the solvers of a run came to: each for itself, and what one solved of what another had solved."""

from collections.abc import Iterator, Mapping
from itertools import permutations

from .store import Store

# Of a file that was judged again, after a process had died over it, the last attempt counts.
_ROWS = """
SELECT attempts.path, coalesce(agent_runs.solver, agent_runs.agent) AS solver, agent_runs.control,
    uses.correct AS solved
FROM uses JOIN agent_runs ON agent_runs.id = uses.used_id JOIN attempts ON attempts.id = uses.attempt_id
WHERE attempts.run_id = ? AND uses.kind = 'agent_run' ORDER BY uses.time, uses.rowid
"""


def solver_lines(store: Store, run_id: str) -> list[str]:
    """A line for each of several solvers, for each two of them, and one for the control runs, by the rows of a run."""
    solves: dict[str, dict[str, int | None]] = {}
    controls: dict[str, dict[str, int | None]] = {}
    for row in store.query(_ROWS, [run_id]):
        of_solver = (controls if row["control"] else solves).setdefault(row["solver"], {})
        of_solver[row["path"]] = row["solved"]
    lines = list(_agreement(solves)) if len(solves) > 1 else []
    return [*lines, *_needed(controls)]


def _agreement(solves: Mapping[str, Mapping[str, int | None]]) -> Iterator[str]:
    for solver, found in solves.items():
        unknown = sum(solved is None for solved in found.values())
        without = f", {unknown} without verdict" if unknown else ""
        yield f"solver `{solver}`: {sum(map(bool, found.values()))} of {len(found)} solved{without}"
    for first, other in permutations(solves, 2):
        solved = [path for path, is_solved in solves[first].items() if is_solved]
        # Only what both have judged says anything of both.
        both = [is_solved for path in solved if (is_solved := solves[other].get(path)) is not None]
        if both:
            yield f"`{first}` solved {len(solved)}; of these `{other}` was asked {len(both)} and solved {sum(both)}"


def _needed(controls: Mapping[str, Mapping[str, int | None]]) -> Iterator[str]:
    for solver, found in controls.items():
        counts = {
            "needed the software": sum(solved == 0 for solved in found.values()),
            "did not": sum(solved == 1 for solved in found.values()),
            "unknown": sum(solved is None for solved in found.values()),
        }
        told = ", ".join(f"{count} {words}" for words, count in counts.items() if count or words != "unknown")
        yield f"control runs of `{solver}`: {told}"
