"""`toolgate generate`: an agent proposes candidates, the gates judge them, and the next ones learn from it."""

import argparse
import dataclasses
import json
import os
import re
from pathlib import Path

from ..config import Budget, GenerateSettings, Settings
from ..domains import Domain, DomainError, domain_names, load_domain
from ..generator.examples import OWN_SEEDS, SeedError, read_seeds
from ..generator.items import LoopError
from ..generator.loop import Loop, Plan
from . import configuration
from .errors import CommandError
from .generate_report import report, text
from .own_run import own_run
from .shown import Shown
from .watch import watch


def declare(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("generate", help="propose candidates in rounds, each judged by the configured gates")
    parser.add_argument("--domain", help="target software (default: the configuration's)")
    parser.add_argument(
        "--rounds", type=_whole, required=True, help="how many rounds there are to be in the end, earlier runs included"
    )
    parser.add_argument("--parallel", type=_whole, default=1, help="rounds under way at once (default: 1)")
    parser.add_argument(
        "--max-similarity", type=_share, help="largest part of the wording in common with an accepted item (0.7)"
    )
    parser.add_argument("--max-usd", type=_amount, help="begin no call once this run has cost so much")
    parser.add_argument("--max-minutes", type=_amount, help="begin no round after so long")
    parser.add_argument("--out", type=Path, default=Path("generated"), help="where proposals are put (generated)")
    parser.add_argument("--seed", type=int, default=0, help="seed of every shuffle and of the answers' places (0)")
    for name, default, what in (
        ("db", ".toolgate/toolgate.db", "the database file"),
        ("accepted", "accepted", "directory of accepted items"),
    ):
        variable = f"TOOLGATE_{name.upper()}"
        chosen = Path(os.environ.get(variable) or default)
        parser.add_argument(f"--{name}", type=Path, default=chosen, help=f"{what} (default: {variable}, or {default})")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")
    configuration.add_option(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Run the rounds.

    Returns:
        0 when all rounds are over, 1 when some are not: a cap, an interruption, or rounds without verdict.
    """
    settings = configuration.read(options)
    generate = _generator(settings, options)
    domain = _domain(settings, options)
    if options.max_usd is not None:
        settings = dataclasses.replace(settings, budget=Budget(options.max_usd, settings.budget.usd_per_candidate))
    try:
        seeds = read_seeds(domain, OWN_SEEDS)
    except SeedError as problem:
        raise CommandError(str(problem)) from None
    plan = Plan(
        rounds=options.rounds,
        parallel=options.parallel,
        seconds=None if options.max_minutes is None else 60 * options.max_minutes,
        directory=options.out.absolute(),
    )
    with own_run(
        settings,
        seed=options.seed,
        gates=settings.configured_gates(),
        database=options.db.absolute(),
        accepted=options.accepted.absolute(),
        alone=(f"generate-{domain.name}", f"`toolgate generate` is at work on {domain.name}"),
        providers=[generate.provider],
    ) as bench:
        try:
            loop = Loop(domain, seeds, generate, plan, bench)
            watch(loop, Shown(plan.rounds, bench.store, bench.run.id, quiet=options.json))
        except LoopError as problem:
            raise CommandError(str(problem)) from None
        told = report(loop, bench.store, bench.run.id)
    print(json.dumps(told, indent=2) if options.json else text(told))
    return int(loop.progress.done < plan.rounds)


def _generator(settings: Settings, options: argparse.Namespace) -> GenerateSettings:
    if settings.generate is None:
        raise CommandError("the configuration names no generator; give its agent, provider and model under `generate`")
    if options.max_similarity is None:
        return settings.generate
    return dataclasses.replace(settings.generate, max_similarity=options.max_similarity)


def _domain(settings: Settings, options: argparse.Namespace) -> Domain:
    name: str = options.domain or settings.domain or ""
    if name not in domain_names():
        known = ", ".join(sorted(domain_names()))
        given = f"`{name}` is not a known domain" if name else "no domain is named"
        raise CommandError(f"{given}; give one with --domain: {known}")
    try:
        return load_domain(name)
    except DomainError as problem:
        raise CommandError(str(problem)) from None


def _whole(text: str) -> int:
    if not re.fullmatch("[0-9]{1,7}", text) or not 1 <= int(text) <= 1_000_000:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 to 1000000, not `{text}`")
    return int(text)


def _share(text: str) -> float:
    number = _number(text)
    if not 0 < number <= 1:
        raise argparse.ArgumentTypeError(f"must be above 0 and at most 1, not `{text}`")
    return number


def _amount(text: str) -> float:
    number = _number(text)
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"must be 0 or more, not `{text}`")
    return number


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number, not `{text}`") from None
