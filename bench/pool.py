"""What it costs to hold a pool against itself, against plain comparison of all with all.

`python bench/pool.py [candidates] [accepted]` makes a pool from the candidates of this repository: templates whose words
are changed here and there. It prints the processor times of finding each candidate's nearest accepted item, and of finding the
clusters of all candidates, by the package and by Jaccard similarities of all pairs of sets. Both must find the same.
"""

import itertools
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

from pytest_toolgate.candidate import Candidate, read_candidate
from pytest_toolgate.pool.clusters import clusters
from pytest_toolgate.pool.shingles import Shingles, of_texts
from pytest_toolgate.pool.similarity import MAX_SIMILARITY, Index, similarity

ROOT = Path(__file__).parents[1] / "candidates"


def main(candidates: int = 1000, accepted: int = 500) -> None:
    """Measure and print."""
    draw = random.Random(0)
    templates = [
        read_candidate(path, domains=("fenicsx", "scipy"), default_domain=None) for path in sorted(ROOT.rglob("*.yaml"))
    ]
    pool = {f"item-{number:04}": _variant(draw.choice(templates), draw) for number in range(candidates + accepted)}
    new, known = dict(list(pool.items())[:candidates]), dict(list(pool.items())[candidates:])
    _compare(
        f"nearest of {accepted} for each of {candidates}",
        lambda: [found.similarity for index in [Index(known)] for one in new.values() if (found := index.nearest(one))],
        lambda: [max(similarity(one, other) for other in known.values()) for one in new.values()],
    )
    _compare(
        f"clusters of {candidates}",
        lambda: sorted(map(len, clusters(new))),
        lambda: sorted(map(len, _all_pairs(new))),
    )


def _variant(candidate: Candidate, draw: random.Random) -> Shingles:
    """The candidate with up to a tenth of its words replaced: some remain of its template, some do not."""
    changed = draw.uniform(0, 0.1)
    question, solution = (
        " ".join(f"w{draw.randrange(1000)}" if draw.random() < changed else word for word in text.split())
        for text in (candidate.question, candidate.solution)
    )
    return of_texts(question, [], solution)


def _all_pairs(items: dict[str, Shingles]) -> list[set[str]]:
    """Single linkage the plain way."""
    found = {name: {name} for name in items}
    for left, right in itertools.combinations(items, 2):
        if similarity(items[left], items[right]) >= MAX_SIMILARITY and found[left] is not found[right]:
            found[left] |= found[right]
            for name in found[right]:
                found[name] = found[left]
    return list({id(group): group for group in found.values()}.values())


def _compare[Found](what: str, ours: Callable[[], Found], plain: Callable[[], Found]) -> None:
    seconds, results = [], []
    for way in (ours, plain):
        begun = time.process_time()
        results.append(way())
        seconds.append(time.process_time() - begun)
    if results[0] != results[1]:
        raise SystemExit(f"{what}: the two ways differ")
    print(f"{what}: {seconds[0]:.2f} s, all pairs {seconds[1]:.2f} s, ratio {seconds[0] / seconds[1]:.3f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
