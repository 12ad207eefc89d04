"""How items were made, as their records say: which software, which screens, which solvers."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from .items import Made
from .public import Public

_SHOWN: Final = ("reasoning", "max_output_tokens", "presentations", "mode")


def made(records: Sequence[Mapping[str, Any]], seeds: Sequence[int], public: Public) -> Made:
    """What all records together name.

    Args:
        records: The `record` of each attempt.
        seeds: Every seed that a model has seen.
        public: Makes texts public.
    """
    environments = [run["environment"] for record in records for run in record["script_runs"]]
    versions: dict[str, set[str]] = {}
    for environment in environments:
        for name, version in environment.get("packages", {}).items():
            versions.setdefault(name, set()).add(version)
    return Made(
        toolgate=_sorted(record["run"]["version"] for record in records if record["run"]),
        pythons=_sorted(environment.get("version", "") for environment in environments),
        packages={name: _sorted(found) for name, found in sorted(versions.items())},
        screens=_sorted(public.text(_screen(reply)) for record in records for reply in record["replies"]),
        solvers=_sorted(public.text(_solver(run)) for record in records for run in record["agent_runs"]),
        seeds=tuple(seeds),
    )


def _sorted(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(filter(None, texts))))


def _screen(reply: Mapping[str, Any]) -> str:
    settings = reply["settings"]
    given = [f"{name} {settings[name]}" for name in _SHOWN if settings.get(name) not in (None, "")]
    return f"screen {reply['screen']}: {_model(reply['model_asked'], reply['model_served'])}{_list(given)}"


def _solver(run: Mapping[str, Any]) -> str:
    settings = run["settings"]
    version = f" {run['agent_version']}" if run["agent_version"] else ""
    given = [f"{name} {settings[name]}" for name in ("reasoning", "time_limit") if settings.get(name) not in (None, "")]
    control = "control run of " if run["control"] else ""
    agent = f"agent {run['agent']}{version}, {settings.get('model')}{_list(given)}"
    return f"{control}solver {run['solver'] or run['agent']}: {agent}"


def _model(asked: str, served: str | None) -> str:
    return asked if served in (None, asked) else f"{asked} (served as {served})"


def _list(given: Sequence[str]) -> str:
    return f", {', '.join(given)}" if given else ""
