"""Reading the configuration: values checked, faults told with file, line and key."""

import contextlib
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_toolgate.config import ConfigError, Settings, read_settings

KINDS = ("llama-cpp", "openai")
AGENTS = ("builtin", "codex", "command")
CHECKS = ("basix-layout", "perturb")

WHOLE = """\
domain: fenicsx
providers:
  local:  {kind: llama-cpp}
  openai: {api: responses, api_key_env: OPENAI_API_KEY,
           prices: {gpt-5.4: {input: 1.25, cached: 0.125, output: 10}}}
  lab:    {api: chat, base_url: "http://127.0.0.1:8000/v1", api_key_env: LAB_KEY, timeout: 9, any_model: true,
           max_concurrency: 2, retries: {attempts: 2, max_wait: 0}}
verify: {time_limit: 300, repeats: 3}
screens:
  - {name: light, provider: lab, model: gpt-5.4, reasoning: none}
  - {name: strong, provider: openai, model: gpt-5.4, samples: 5, reject_at: 3, presentations: distinct-slots}
solve: {agent: codex, provider: openai, model: gpt-5.4, reasoning: medium, time_limit: 300}
"""


def read(folder: Path, text: str, name: str = "toolgate.yaml") -> Settings:
    path = folder / name
    path.write_text(text, "utf-8")
    return read_settings(path, kinds=KINDS, agents=AGENTS, checks=CHECKS)


def refused(folder: Path, text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        read(folder, text)
    message = str(caught.value)
    assert message.startswith(str(folder / "toolgate.yaml"))
    return message.removeprefix(str(folder / "toolgate.yaml"))


def test_a_whole_configuration(tmp_path: Path) -> None:
    settings = read(tmp_path, WHOLE)
    light, strong = settings.screens
    assert settings.domain == "fenicsx"
    assert settings.providers["local"].kind == "llama-cpp"
    assert settings.providers["openai"].prices["gpt-5.4"].cached == 0.125
    lab = settings.providers["lab"]
    assert (lab.name, lab.api, lab.timeout, lab.any_model, lab.retries.attempts) == (
        "lab",
        "chat",
        9.0,
        True,
        2,
    )
    assert (settings.verify.time_limit, settings.verify.repeats) == (300.0, 3)
    assert (light.reasoning, light.samples, light.reject_at, light.presentations) == (
        "none",
        3,
        2,
        "independent",
    )
    assert (strong.reasoning, strong.samples, strong.presentations) == (None, 5, "distinct-slots")
    assert [(solver.name, solver.agent) for solver in settings.solve] == [("codex", "codex")]
    assert settings.configured_gates() == ("lint", "verify", "screen", "solve")


def test_defaults(tmp_path: Path) -> None:
    settings = read(tmp_path, "domain: scipy\nscreens: []\n")
    assert settings == Settings(domain="scipy")
    assert settings.configured_gates() == ("lint", "verify")


def test_what_findings_of_checks_come_to(tmp_path: Path) -> None:
    settings = read(tmp_path, "checks: {perturb: off, basix-layout: }\n")
    assert settings.checks == {"perturb": "off"}
    assert settings.plain()["checks"] == {"perturb": "off"}


def test_a_setting_with_nothing_written_is_left_out(tmp_path: Path) -> None:
    assert read(tmp_path, "domain:\nsolve:\n") == Settings()


def test_the_settings_as_json_hold_names_of_keys_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    assert "sk-canary" not in str(read(tmp_path, WHOLE).plain())


def test_variables_are_expanded_in_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "8123")
    monkeypatch.setenv("MODEL", "m: {x}")
    text = "providers: {p: {base_url: 'http://h:${PORT}/v1', timeout: '${PORT}'}}\n"
    text += "screens: [{name: s, provider: p, model: '${MODEL}'}]"
    settings = read(tmp_path, text)
    assert settings.providers["p"].base_url == "http://h:8123/v1"
    assert settings.providers["p"].timeout == 8123
    assert settings.screens[0].model == "m: {x}"


def provider(text: str) -> str:
    return f"providers:\n  p: {{{text}}}\n"


def screen(text: str) -> str:
    return provider("") + f"screens:\n  - {{name: s, provider: p, model: m, {text}}}\n"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        pytest.param("screns: []", 1, ("`screns`", "`screens`"), id="unknown-key"),
        pytest.param(provider("kinds: x"), 2, ("`providers.p.kinds`", "`kind`"), id="unknown-inner-key"),
        pytest.param(provider("kind: gemini"), 2, ("kind of provider", "llama-cpp, openai"), id="unknown-kind"),
        pytest.param(provider("api: complete"), 2, ("responses, chat", "`complete`"), id="unknown-api"),
        pytest.param(provider("timeout: soon"), 2, ("a number", "`soon`"), id="number"),
        pytest.param(provider("timeout: 0"), 2, ("at least 0.001",), id="zero-time"),
        pytest.param(provider("timeout: -1"), 2, ("at least",), id="negative-time"),
        pytest.param(provider("timeout: nan"), 2, ("at least",), id="nan"),
        pytest.param(provider("timeout: inf"), 2, ("at most",), id="infinite"),
        pytest.param(provider("max_concurrency: 1.5"), 2, ("a whole number",), id="whole"),
        pytest.param(provider(f"max_concurrency: {'9' * 400}"), 2, ("at most",), id="beyond-floats"),
        pytest.param(
            provider("retries: {attempts: 0}"),
            2,
            ("`providers.p.retries.attempts`", "at least 1"),
            id="attempts",
        ),
        pytest.param(provider("retries: 3"), 2, ("must be a mapping",), id="retries"),
        pytest.param(provider("any_model: 1"), 2, ("true or false",), id="bool"),
        pytest.param(
            provider("api_key_env: sk-canary-123"),
            2,
            ("name of an environment variable",),
            id="H09-key-written",
        ),
        pytest.param(provider("api_key_env: ''"), 2, ("empty",), id="empty"),
        pytest.param(provider("base_url: [x]"), 2, ("single value",), id="list"),
        pytest.param(provider("base_url: '${TOOLGATE_NOT_SET}'"), 2, ("TOOLGATE_NOT_SET", "not set"), id="variable"),
        pytest.param("providers:\n  a/b: {}", 2, ("letters, digits",), id="provider-name"),
        pytest.param("providers: [x]", 1, ("must be a mapping",), id="providers"),
        pytest.param("screens: {}", 1, ("must be a list",), id="screens"),
        pytest.param(provider("") + "screens:\n  - {name: s}", 4, ("`screens[0]`", "`provider`"), id="missing-key"),
        pytest.param(screen("samples: 0"), 4, ("`screens[0].samples`", "at least 1"), id="samples"),
        pytest.param(screen("samples: 2, reject_at: 3"), 4, ("reject_at", "2 samples"), id="threshold"),
        pytest.param(screen("presentations: shuffled"), 4, ("independent, distinct-slots",), id="scheme"),
        pytest.param(
            screen("") + "  - {name: s, provider: p, model: m}",
            5,
            ("`screens[1].name`", "its own"),
            id="name-twice",
        ),
        pytest.param("screens: [{name: s, provider: q, model: m}]", 1, ("`q`", "`providers`"), id="provider"),
        pytest.param(
            provider("") + "solve: {agent: codx, provider: p, model: m}",
            3,
            ("`codx`", "builtin, codex, command"),
            id="agent",
        ),
        pytest.param(
            screen("") + "budget: {usd: 5}",
            5,
            ("prices of `m`", "`providers.p.prices`"),
            id="budget-without-prices",
        ),
        pytest.param("checks:\n  pertub: flag", 2, ("`checks.pertub`", "nearest", "`perturb`"), id="check"),
        pytest.param("checks: {perturb: no}", 1, ("`checks.perturb`", "reject, flag, off"), id="severity"),
        pytest.param("checks: [perturb]", 1, ("mapping",), id="checks"),
        pytest.param("budget: {usd: -1}", 1, ("at least 0",), id="budget"),
        pytest.param("verify: {memory: 1}", 1, ("at least",), id="memory"),
        pytest.param("a: 1\na: 2", 2, ("twice",), id="H13"),
        pytest.param("a: *x", 1, ("aliases",), id="alias"),
        pytest.param("[x]", 1, ("mapping",), id="no-mapping"),
    ],
)
def test_faults_are_told_with_line_and_key(tmp_path: Path, text: str, line: int, words: tuple[str, ...]) -> None:
    message = refused(tmp_path, text)
    assert message.startswith(f":{line}:")
    for word in words:
        assert word in message


@pytest.mark.parametrize("key", ["api_key_env", "timeout", "any_model", "api", "max_concurrency"])
def test_no_message_shows_what_a_variable_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    """H09."""
    monkeypatch.setenv("KEY", "sk-canary-123")
    assert "canary" not in refused(tmp_path, provider(f"{key}: '${{KEY}}'"))


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        read_settings(tmp_path / "missing.yaml", kinds=KINDS, agents=AGENTS)
    with pytest.raises(ConfigError, match="cannot be read"):
        read_settings(tmp_path, kinds=KINDS, agents=AGENTS)


def test_an_embedded_model_needs_no_price(tmp_path: Path) -> None:
    text = "providers: {p: {kind: llama-cpp}}\nscreens: [{name: s, provider: p, model: m}]\nbudget: {usd: 5}"
    assert read(tmp_path, text).budget.usd == 5


_KEYS = st.sampled_from(
    ["domain", "providers", "screens", "verify", "solve", "budget", "p", "name", "timeout", "retries"]
)
_TREES = st.recursive(
    st.sampled_from(["x", "1", "''", "${HOME}", "${", "true", "-1"]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.dictionaries(_KEYS, inner, max_size=4).map(
            lambda d: "{" + ", ".join(f"{k}: {v}" for k, v in d.items()) + "}"
        ),
    ),
    max_leaves=10,
)


@given(text=_TREES)
def test_no_configuration_raises_anything_else(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    with contextlib.suppress(ConfigError):
        read(tmp_path_factory.getbasetemp(), text)


# --- solvers ------------------------------------------------------------------------------------------------

LAB = "providers: {p: {}}\n"
TWO = "solve:\n  - {agent: codex, provider: p, model: m}\n  - {provider: p, model: m, name: small, control: true}\n"


def test_one_solver_or_several(tmp_path: Path) -> None:
    [one] = read(tmp_path, LAB + "solve: {provider: p, model: m}").solve
    assert (one.name, one.agent, one.control) == ("builtin", "builtin", False)
    first, second = read(tmp_path, LAB + TWO).solve
    assert (first.name, first.title) == ("codex", "agent `codex`")
    assert (second.name, second.agent, second.control, second.title) == ("small", "builtin", True, "solver `small`")
    assert read(tmp_path, "solve: []").configured_gates() == ("lint", "verify")


@pytest.mark.parametrize(("written", "accept", "needed"), [("any", "any", 1), ("all", "all", 2), ("2", 2, 2)])
def test_how_many_must_solve(tmp_path: Path, written: str, accept: str | int, needed: int) -> None:
    settings = read(tmp_path, f"{LAB}{TWO}accept: {written}\n")
    assert (settings.accept, settings.needed_solvers) == (accept, needed)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        pytest.param("solve: text", 2, ("`solve` must be a list",), id="neither"),
        pytest.param("solve: [{provider: p}, x]", 2, ("`solve[1]` must be a mapping",), id="no-mapping"),
        pytest.param("solve: {provider: p, modl: m}", 2, ("`solve.modl`", "`model`"), id="key-of-one"),
        pytest.param("solve:\n  - {provider: p}\n  - {modl: m}", 4, ("`solve[1].modl`",), id="key-of-several"),
        pytest.param("solve: {agent: x, provider: p}", 2, ("`solve.agent` `x`", "builtin, codex"), id="agent-of-one"),
        pytest.param("solve:\n  - {provider: p}\n  - {agent: x}", 4, ("`solve[1].agent` `x`",), id="agent-of-several"),
        pytest.param("solve:\n  - {provider: q}", 3, ("`solve[0].provider` `q`", "there is p"), id="provider"),
        pytest.param(
            "solve:\n  - {provider: p}\n  - {provider: p}", 4, ("`solve[1].name` `builtin` is the name of another",),
            id="one-name-for-two",
        ),
        pytest.param("solve: {provider: p, name: a b}", 2, ("`solve.name` must be a name of letters",), id="name"),
        pytest.param(
            "solve: {provider: p, reject_if_control_solves: true}", 2,
            ("`solve.reject_if_control_solves` needs `control: true`",), id="no-control",
        ),
        pytest.param(f"{TWO}accept: 3", 5, ("`accept` asks for 3 solvers, and there are 2 under `solve`",), id="more"),
        pytest.param("accept: 1", 2, ("`accept` asks for 1 solver, and there is no solver",), id="none"),
        pytest.param(f"{TWO}accept: 0", 5, ("`accept` must be any, all or a whole number from 1 on, not `0`",), id="0"),
        pytest.param(f"{TWO}accept: most", 5, ("must be any, all or a whole number",), id="word"),
        pytest.param(f"{TWO}accept: 1.5", 5, ("must be any, all or a whole number",), id="fraction"),
        pytest.param(f"{TWO}accept: [any]", 5, ("`accept` must be a single value",), id="list"),
    ],
)  # fmt: skip
def test_faults_of_solvers(tmp_path: Path, text: str, line: int, words: tuple[str, ...]) -> None:
    message = refused(tmp_path, LAB + text + "\n")
    assert message.startswith(f":{line}:")
    assert all(word in message for word in words), message


def test_a_budget_needs_the_price_of_every_solver(tmp_path: Path) -> None:
    prices = "providers: {p: {prices: {a: {input: 1, output: 1}}}}\nbudget: {usd: 1}\n"
    solve = "solve: [{provider: p, model: a}, {name: two, provider: p, model: b}]\n"
    assert "needs the prices of `b`" in refused(tmp_path, prices + solve)


# --- agents with a program of their own ---------------------------------------------------------------------


def command(arguments: str, more: str = "") -> str:
    return f"solve: {{agent: command, command: [{arguments}], provider: p, model: m{more}}}"


def test_a_command_and_what_it_is_shown(tmp_path: Path) -> None:
    text = LAB + command("answerer, '--at={base_url}', '{{x}}'", ", show: [../tools, /opt/data]")
    [solver] = read(tmp_path, text).solve
    assert solver.command == ("answerer", "--at={base_url}", "{{x}}")
    assert solver.show == (tmp_path / "../tools", Path("/opt/data"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("solve: {agent: command, provider: p}", ("`solve.command` must be the arguments",), id="nothing"),
        pytest.param(command("x, '{promt}'"), ("unknown placeholder `{promt}`", "{prompt_file}"), id="unknown"),
        pytest.param(command("x, '{prompt'"), ("a single `{`", "`{{`"), id="brace"),
        pytest.param(command("x, 'a}'"), ("a single `}`", "`}}`"), id="closing-brace"),
        pytest.param(command("./x"), ("`./x`", "PATH or an absolute path"), id="relative"),
        pytest.param(command("x, '{reasoning}'"), ("no `reasoning` is set",), id="no-reasoning"),
        pytest.param(command("x", ", reasoning: low"), ("no {reasoning}", "`reasoning: low`"), id="lost-reasoning"),
        pytest.param(command("x", ", program: /bin/x"), ("`solve.program` is the first argument",), id="program"),
        pytest.param("solve: {agent: codex, command: [x], provider: p}", ("is for `agent: command`",), id="other"),
        pytest.param("solve: {show: [/opt], provider: p}", ("`solve.show` is for agents",), id="builtin"),
        pytest.param("solve: {command: x, provider: p}", ("`solve.command` must be a list",), id="text"),
    ],
)
def test_faults_of_programs(tmp_path: Path, text: str, words: tuple[str, ...]) -> None:
    message = refused(tmp_path, LAB + text + "\n")
    assert message.startswith(":2:")
    assert all(word in message for word in words), message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "screens: [{name: s, provider: p, model: m}]",
            ("`screens[0].provider`", "screens ask by `responses` or `chat`"),
        ),
        ("solve: {provider: p, model: m}", ("`solve.provider`", "the agent `builtin` asks by `responses` or `chat`")),
    ],
)
def test_messages_is_for_agents_that_speak_it(tmp_path: Path, text: str, words: tuple[str, ...]) -> None:
    provider = "providers: {p: {api: messages}}\n"
    message = refused(tmp_path, provider + text)
    assert message.startswith(":2:")
    assert all(word in message for word in words), message
    assert read(tmp_path, f"{provider}solve: {{agent: codex, provider: p, model: m}}").solve


def test_only_the_built_in_agent_has_a_limit_of_turns_by_itself(tmp_path: Path) -> None:
    text = "solve: [{provider: p, model: m}, {agent: codex, provider: p, model: m}]"
    builtin, other = read(tmp_path, LAB + text).solve
    assert (builtin.max_turns, other.max_turns, other.most_turns) == (12, None, math.inf)
    assert builtin.asked()["max_turns"] == 12
