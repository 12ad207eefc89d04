"""The short report: what a maintainer wants to see in forty lines."""

from collections.abc import Iterator, Sequence

from ..analysis import Analysis
from ..analysis.costs import Stage
from ..analysis.templates import RULE, Diversity
from ..audit import Recorded
from ..gates.result import escaped

_MOST = 8
_WIDTH = 200


def terminal(found: Analysis) -> str:
    """The report as text, a line of at most 200 characters for each thing that it says."""
    return "\n".join(_cut(escaped(line)) for line in _lines(found))


def near(pools: Sequence[Diversity]) -> str:
    """The exact and the near duplicates of pools as text, near ones up to the limit of the analysis."""
    return "\n".join(_cut(escaped(line)) for found in pools for line in _near(found))


def _lines(found: Analysis) -> Iterator[str]:
    closed = f", {found.unclosed} not closed" if found.unclosed else ""
    runs = f"{found.runs} run{'' if found.runs == 1 else 's'}"
    yield f"{found.database}: {runs}{closed}, {len(found.items)} candidates, {len(found.accepted)} accepted"
    for step in found.funnel:
        reasons = ", ".join(f"{times} {reason}" for reason, times in step.reasons.items())
        without = f"  {step.without_verdict} without verdict" if step.without_verdict else ""
        removed = f"  {step.removed} removed" + (f" ({reasons})" if reasons else "")
        yield f"  {step.name:<18} {step.entered:>6} in {step.out:>6} out{removed}{without}"
    if found.pool is not None:
        yield "reported pool"
        yield from (f"  {line}" for line in found.pool.text().splitlines())
    elif found.audits:
        yield f"audits: {', '.join(found.audits)}; name some with --audits, in order, for the reported pool"
    warnings = [finding for finding in found.findings if finding.warning]
    if warnings:
        yield "findings"
    yield from (f"  ! {finding.sentence}" for finding in warnings[:_MOST])
    if found.screens:
        yield "screens: solved candidates; right calls"
    for screen, letters in list(zip(found.screens, found.letters, strict=True))[:_MOST]:
        order = "fixed order" if screen.is_fixed else "shuffled"
        yield f"  {screen.name:<24} {screen.solved}; {letters.all_calls}; {order}"
    if found.solvers:
        yield "solvers: solved candidates"
    for solver in found.solvers[:_MOST]:
        lost = ", ".join(f"{times} {reason}" for reason, times in solver.failures.items())
        yield f"  {solver.name:<24} {solver.solved}" + (f"; {lost}" if lost else "")
    # Where one says the same of all, as of those that it was asked to leave, there is nothing to agree about.
    pairs = [
        pair
        for pair in (*found.screen_pairs, *found.solver_pairs)
        if pair.only_first + pair.only_second and pair.first_to_second.whole and pair.second_to_first.whole
    ]
    if pairs:
        yield "agreement, of what both have judged"
    for pair in sorted(pairs, key=lambda pair: -pair.judged)[:_MOST]:
        kappa = f", kappa {pair.kappa_text}" if pair.kappa_text else ""
        yield f"  {pair.first} and {pair.second}: {pair.agree}{kappa}; {pair.sentences()[0]}"
    if len(pairs) > _MOST or len(warnings) > _MOST:
        yield "  the rest with --html FILE or --json"
    for alike in found.diversity:
        if alike.effective is not None:
            clusters = f"{len(alike.sizes)} cluster{'' if len(alike.sizes) == 1 else 's'}"
            yield (
                f"templates: {alike.counted} in {clusters}, effective number {alike.effective:.1f}, largest "
                f"{100 * alike.sizes[0] / alike.items:.0f} %, {alike.repeats} exact repetitions"
            )
    if found.guessers:
        yield "cues (chance 25 %): " + ", ".join(f"{one.name} {one.percent:.1f} %" for one in found.guessers)
    yield from _costs(found)


def _costs(found: Analysis) -> Iterator[str]:
    stages = [("the loop", found.costs.loop), ("all audits", found.costs.audits)]
    for name, stage in stages:
        if stage.calls:
            yield f"{name} took {stage.seconds / 3600:.2f} hours of work, {tokens(stage)}, {money(stage)}"
    each = found.costs.per_item()
    if each["accepted"] and each["seconds"] is not None:
        usd = "at unknown cost" if each["usd"] is None else f"{each['usd']:.4f} USD"
        yield f"for each accepted item {each['seconds'] / 60:.1f} minutes, {usd}"


def money(stage: Stage) -> str:
    """What a stage has cost, in words; an unknown price is said, and is no 0."""
    if not stage.unpriced:
        return "nothing paid" if stage.usd is None else f"{stage.usd:.4f} USD"
    known = "" if stage.usd is None else f", {stage.usd:.4f} USD for the others"
    return f"cost unknown ({stage.unpriced} calls of unknown price{known})"


def tokens(stage: Stage) -> str:
    """Its tokens in words."""
    if stage.input_tokens is None or stage.output_tokens is None:
        return f"tokens unknown ({stage.uncounted} calls did not say)" if stage.uncounted else "no tokens"
    unsaid = f" ({stage.uncounted} calls did not say)" if stage.uncounted else ""
    return f"{stage.input_tokens:,} tokens in and {stage.output_tokens:,} out{unsaid}"


def _near(found: Diversity) -> Iterator[str]:
    yield f"exact duplicates of {found.counted}: {found.repeats}"
    yield f"  rule: {RULE}"
    for twins in found.twins:
        yield f"  {_name(twins.stays)} stays; removed: {', '.join(map(_name, twins.removed))}"
    more = ", more than are listed" if found.cut else ""
    yield f"near duplicates, similarity at least {found.threshold:g}: {len(found.near)} pairs{more}; none is removed"
    for pair in found.near:
        yield f"  {pair.similarity:.2f} {pair.part:<8} {_name(pair.first)} and {_name(pair.second)}"


def _name(one: Recorded) -> str:
    number = "" if one.round is None else f" (round {one.round})"
    return f"{one.path}{number}"


def _cut(line: str) -> str:
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 3]}..."
