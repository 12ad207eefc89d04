"""Before the first paid call: are the key, the model and every setting what the server takes?

Found out once per run, by whichever process has the first call to make: by the list of models, which costs nothing, and
by one minimal request. What a server refuses then, it would refuse five hundred times; what merely fails on the wire
proves nothing either way, and is left to the calls themselves.
"""

import hashlib
import json
from contextlib import nullcontext
from pathlib import Path

from ..config import EMBEDDED, ScreenSettings, SolveSettings
from ..locking import locked
from ..providers import ListsModels, Message, Request, Response
from .money import budget_spent, what_it_took
from .result import GateResult
from .workbench import Workbench

PROMPT = "Reply with the word OK."
_LISTED = 8


def preflight(bench: Workbench, user: ScreenSettings | SolveSettings) -> GateResult | None:
    """None when calls with these settings may be made, else the result that ends the gate; the run then pays no more.

    Raises:
        ProviderError: The provider cannot be used at all.
        SlotTimeout: No place became free.
    """
    if bench.settings.providers[user.provider].kind == EMBEDDED:
        return None
    provider = bench.provider(user.provider)
    if not isinstance(provider, ListsModels):
        return None  # a kind of somebody else's, which need not understand a prompt of ours
    sent = {"model": user.model, "reasoning": user.reasoning, "max_output_tokens": user.max_output_tokens}
    name = hashlib.sha256(json.dumps([user.provider, sent]).encode()).hexdigest()[:16]
    proof = bench.run.directory / f"preflight-{name}"
    if proof.exists():
        return bench.refusal()
    # An agent makes its first call with its place at the provider in hand. First the place and then the lock, always.
    place = nullcontext() if isinstance(user, SolveSettings) else bench.call_slots(user.provider).hold()
    with place, locked(proof.with_suffix(".lock")):
        if not proof.exists():
            return _prove(
                bench, provider, user, proof, {key: value for key, value in sent.items() if value is not None}
            )
    return bench.refusal()


def _prove(
    bench: Workbench, provider: ListsModels, user: ScreenSettings | SolveSettings, proof: Path, sent: dict[str, object]
) -> GateResult | None:
    if stop := bench.refusal():
        return stop
    listed, refusal = _list_models(bench.run.directory / f"models-{user.provider}.json", provider)
    if refusal:
        bench.stop_paid_work(f"provider `{user.provider}` refuses its key: {refusal}")
        return bench.refusal()
    if stop := budget_spent(bench):
        return stop
    request = Request(user.model, (Message("user", PROMPT),), user.reasoning, user.max_output_tokens)
    response = provider.ask(request)
    if response.quota:
        bench.stop_paid_work(f"provider `{user.provider}`: {response.error}")
    elif response.refused:
        settings = ", ".join(f"{name} {value}" for name, value in sent.items())
        known = f"; it lists {', '.join(listed[:_LISTED])}" if listed and user.model not in listed else ""
        bench.stop_paid_work(f"provider `{user.provider}` refuses a request with {settings}: {response.error}{known}")
    # It was asked, whatever becomes of the record; and who sees that must see what came of it.
    proof.touch()
    _record(bench, user, sent, response, provider.base_url)
    return bench.refusal()


def _list_models(kept: Path, provider: ListsModels) -> tuple[tuple[str, ...], str]:
    """The models that a server lists, asked for once per run, and why it refuses the key, if it does."""
    with locked(kept.with_suffix(".lock")):
        if kept.exists():
            return tuple(json.loads(kept.read_text("utf-8"))), ""
        answer = provider.models()
        if not answer.error:
            kept.write_text(json.dumps(answer.names), "utf-8")
        return answer.names, answer.error


def _record(
    bench: Workbench,
    user: ScreenSettings | SolveSettings,
    sent: dict[str, object],
    response: Response,
    base_url: str,
) -> None:
    bench.store.append("preflights", {
        "run_id": bench.run.id,
        "provider": user.provider,
        "base_url": base_url,
        "settings": sent,
        "status": response.status,
        "text": response.text[:1000],
        "note": response.error,
        **what_it_took(bench.settings.providers[user.provider], user.model, response),
    })  # fmt: skip
