"""What no single value of `toolgate.yaml` shows: names that must be unique or known, numbers that must fit together."""

import difflib
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from ..candidate.document import Node
from .commands import program_fault
from .generator import NOT_FOR_GENERATORS
from .model import ScreenSettings, Settings
from .provider import EMBEDDED, ProviderSettings
from .solver import BUILTIN, SolveSettings

Refuse = Callable[[str, Node, str], Exception]
"""Makes the error to raise: a sentence, where, and the key."""
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")


@dataclass(frozen=True, slots=True)
class Known:
    """What is installed, by name.

    Attributes:
        kinds: Kinds of providers.
        agents: Agents.
        checks: Extra checks.
    """

    kinds: Collection[str]
    agents: Collection[str]
    checks: Collection[str]


def check(settings: Settings, refuse: Refuse, root: Node, known: Known) -> None:
    """Raise what `refuse` makes of the first fault."""
    for provider in settings.providers.values():
        node = _at(root, "providers", provider.name)
        if not _NAME.fullmatch(provider.name):
            raise refuse("must be a name of letters, digits, `.`, `_` and `-`", node, f"providers.{provider.name}")
        if provider.api_key_env is not None and not _VARIABLE_NAME.fullmatch(provider.api_key_env):
            sentence = "must be the name of an environment variable; a key itself is never written or expanded here"
            raise refuse(sentence, node, f"providers.{provider.name}.api_key_env")
        if provider.kind not in known.kinds:
            kinds = ", ".join(sorted(known.kinds))
            raise refuse(f"is not a known kind of provider; known are {kinds}", node, f"providers.{provider.name}.kind")
    names: set[str] = set()
    for i, screen in enumerate(settings.screens):
        node, key = _at(root, "screens", i), f"screens[{i}]"
        if screen.name in names or not _NAME.fullmatch(screen.name):
            raise refuse("must be a name of its own, of letters, digits, `.`, `_` and `-`", node, f"{key}.name")
        names.add(screen.name)
        _check_provider(screen, settings, refuse, node, key)
        if screen.reject_at > screen.samples:
            raise refuse(f"is more than the {screen.samples} samples; no reply could reject", node, f"{key}.reject_at")
    if settings.screens and not settings.verdict_screens:
        sentence = "need at least one screen without `mode`: cue screens are reported and decide nothing"
        raise refuse(sentence, _at(root, "screens"), "screens")
    if settings.verify.warm and settings.sandbox != "bubblewrap":
        sentence = (
            f"needs `sandbox: bubblewrap`, since every script gets namespaces of its own, not `{settings.sandbox}`"
        )
        raise refuse(sentence, _at(root, "verify"), "verify.warm")
    _check_solvers(settings, refuse, root, known.agents)
    _check_generator(settings, refuse, root, known.agents)
    _check_checks(settings, refuse, root, known.checks)
    if settings.budget.capped:
        _check_prices(settings, refuse, _at(root, "budget"))


def _check_solvers(settings: Settings, refuse: Refuse, root: Node, agents: Collection[str]) -> None:
    listed = isinstance(_at(root, "solve").value, list)
    names: set[str] = set()
    for i, solver in enumerate(settings.solve):
        node, key = (_at(root, "solve", i), f"solve[{i}]") if listed else (_at(root, "solve"), "solve")
        _check_agent(solver, settings, refuse, node, key, agents)
        if solver.name in names:
            sentence = f"`{solver.name}` is the name of another solver too; give each a `name` of its own"
            raise refuse(sentence, node, f"{key}.name")
        names.add(solver.name)
        if solver.reject_if_control_solves and not solver.control:
            sentence = "needs `control: true`: without a control run nobody knows"
            raise refuse(sentence, node, f"{key}.reject_if_control_solves")
    if isinstance(settings.accept, int) and settings.accept > len(settings.solve):
        count = len(settings.solve)
        there = "there is no solver" if count == 0 else f"there {'is' if count == 1 else 'are'} {count} under `solve`"
        asked = f"{settings.accept} solver{'' if settings.accept == 1 else 's'}"
        raise refuse(f"asks for {asked}, and {there}", _at(root, "accept"), "accept")


def _check_agent(
    user: SolveSettings, settings: Settings, refuse: Refuse, node: Node, key: str, agents: Collection[str]
) -> None:
    if user.agent not in agents:
        known = ", ".join(sorted(agents))
        raise refuse(f"`{user.agent}` is not a known agent; known are {known}", node, f"{key}.agent")
    if not _NAME.fullmatch(user.name):
        raise refuse("must be a name of letters, digits, `.`, `_` and `-`", node, f"{key}.name")
    _check_provider(user, settings, refuse, node, key)
    if fault := program_fault(user):
        raise refuse(fault[1], node, f"{key}.{fault[0]}")


def _check_generator(settings: Settings, refuse: Refuse, root: Node, agents: Collection[str]) -> None:
    if (generate := settings.generate) is None:
        return
    node = _at(root, "generate")
    for name in NOT_FOR_GENERATORS:
        if getattr(generate, name):
            raise refuse("is for solvers; a generator has no use for it", node, f"generate.{name}")
    _check_agent(generate, settings, refuse, node, "generate", agents)
    shares = {"max_similarity": generate.max_similarity} | {
        f"quotas.{tag}": share for tag, share in generate.quotas.items()
    }
    for name, share in shares.items():
        if not 0 < share <= 1:
            raise refuse(f"must be a share above 0 and at most 1, not `{share:g}`", node, f"generate.{name}")


def _check_checks(settings: Settings, refuse: Refuse, root: Node, known: Collection[str]) -> None:
    for name in settings.checks:
        if name not in known:
            near = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.0)
            nearest = f"the nearest known one is `{near[0]}`" if near else "there is none"
            raise refuse(f"is not a known check; {nearest}", _at(root, "checks", name), f"checks.{name}")


def _check_provider(
    user: ScreenSettings | SolveSettings, settings: Settings, refuse: Refuse, node: Node, key: str
) -> None:
    if user.provider not in settings.providers:
        known = ", ".join(settings.providers) or "none"
        raise refuse(f"`{user.provider}` is not under `providers`; there is {known}", node, f"{key}.provider")
    if settings.providers[user.provider].api == "messages" and getattr(user, "agent", BUILTIN) == BUILTIN:
        asker = "screens ask" if isinstance(user, ScreenSettings) else f"the agent `{BUILTIN}` asks"
        sentence = (
            f"`{user.provider}` has `api: messages`, which only agents with a program of their own can ask; {asker} by "
            "`responses` or `chat`"
        )
        raise refuse(sentence, node, f"{key}.provider")


def _check_prices(settings: Settings, refuse: Refuse, node: Node) -> None:
    """A budget can only be kept where every price is known."""
    users: list[ScreenSettings | SolveSettings] = [*settings.screens, *settings.solve]
    if settings.generate is not None:
        users.append(settings.generate)
    for user in users:
        provider: ProviderSettings = settings.providers[user.provider]
        price = provider.prices.get(user.model)
        if provider.kind != EMBEDDED and (price is None or price.input is None or price.output is None):
            where = f"providers.{provider.name}.prices"
            sentence = f"needs the prices of `{user.model}`: give `input` and `output` under `{where}`"
            raise refuse(sentence, node, "budget")


def _at(root: Node, *path: str | int) -> Node:
    node = root
    for step in path:
        value = node.value
        if isinstance(value, dict) and isinstance(step, str):
            node = value.get(step, node)
        elif isinstance(value, list) and isinstance(step, int):
            node = value[step]
    return node
