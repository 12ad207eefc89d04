"""A request has the model write, and nothing else: what leads out of the sandbox, or costs more, is refused by name."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_toolgate.agents.admitted import objection, to_send
from pytest_toolgate.config import SolveSettings
from pytest_toolgate.providers.protocol import Api

from .gateways import BODY, opens

ADDRESS = "https://elsewhere.example/x.png"
FUNCTION = {"type": "function", "name": "run", "parameters": {"properties": {"url": {"const": ADDRESS}}}}
# Parts of a request, by protocol.
REFUSED: Mapping[Api, Mapping[str, Mapping[str, Any]]] = {
    "responses": {
        "background": {"background": True},
        "kept": {"previous_response_id": "resp_1"},
        "conversation": {"conversation": "conv_1"},
        "prompt": {"prompt": {"id": "pmpt_1"}},
        "faster": {"service_tier": "priority"},
        "unknown": {"plugins": [{"id": "web"}]},
        "search": {"tools": [FUNCTION, {"type": "web_search"}]},
        "mcp": {"tools": [{"type": "mcp", "server_url": ADDRESS}]},
        "code": {"tools": [{"type": "code_interpreter", "container": {"type": "auto"}}]},
        "hosted-shell": {"tools": [{"type": "shell", "environment": {"type": "container_auto"}}]},
        "no-type": {"tools": [{"name": "run"}]},
        "no-list": {"tools": {"type": "web_search"}},
        "nested": {"tools": [{"type": "namespace", "name": "x", "tools": [{"type": "web_search"}]}]},
        "on-the-way": {"input": [{"type": "tool_search_output", "tools": [{"type": "web_search"}]}]},
        "image": {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": ADDRESS}]}]},
        "file": {"input": [{"role": "user", "content": [{"type": "input_file", "file_url": ADDRESS}]}]},
        "own-file": {"input": [{"role": "user", "content": [{"type": "input_file", "file_id": "file_1"}]}]},
        "reference": {"input": [{"type": "item_reference", "id": "msg_1"}]},
        "bare-reference": {"input": [{"id": "msg_1"}]},
    },
    "chat": {
        "search": {"web_search_options": {}},
        "many": {"n": 8},
        "fallbacks": {"models": ["dearer"]},
        "tool": {"tools": [{"google_search": {}}]},
        "image": {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": ADDRESS}}]}]},
    },
    "messages": {
        "mcp": {"mcp_servers": [{"type": "url", "url": ADDRESS}]},
        "container": {"container": "container_1"},
        "faster": {"speed": "fast"},
        "search": {"tools": [{"type": "web_search_20250305", "name": "web_search"}]},
        "code": {"tools": [{"type": "code_execution_20250825", "name": "code_execution"}]},
        "compaction": {"context_management": {"edits": [{"type": "compact_20260112"}]}},
        "image": {"messages": [{"role": "user", "content": [
            {"type": "image", "source": {"type": "url", "url": ADDRESS}}]}]},
        "in-a-result": {"messages": [{"role": "user", "content": [{"type": "tool_result", "content": [
            {"type": "document", "source": {"type": "file", "file_id": "file_1"}}]}]}]},
    },
}  # fmt: skip
ADMITTED: Mapping[Api, Mapping[str, Any]] = {
    # As Codex sends it.
    "responses": {
        "instructions": "Be brief.",
        "input": [
            {"type": "message", "id": "msg_1", "role": "user", "content": [{"type": "input_text", "text": ADDRESS}]},
            {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "run", "arguments": '{"url": "x"}'},
            {"type": "function_call_output", "call_id": "c", "output": [
                {"type": "input_image", "image_url": "data:image/png;base64,AA=="}]},
        ],
        "tools": [FUNCTION, {"type": "custom", "name": "apply_patch"}, {"type": "local_shell"}],
        "tool_choice": "auto", "parallel_tool_calls": True, "reasoning": {"summary": "auto"}, "store": False,
        "stream": True, "include": ["reasoning.encrypted_content"], "prompt_cache_key": "k", "client_metadata": {},
        "background": False, "previous_response_id": None, "service_tier": "auto",
    },
    # As mini-swe-agent sends it.
    "chat": {
        "messages": [{"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {
            "name": "bash", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "c", "content": ADDRESS}],
        "tools": [{"type": "function", "function": {"name": "bash"}}], "reasoning_effort": "low", "n": 1,
    },
    # As Claude Code sends it.
    "messages": {
        "messages": [{"role": "assistant", "content": [
            {"type": "tool_use", "id": "t", "name": "Fetch", "input": {"url": ADDRESS, "file_id": "x"}}]}],
        "system": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}],
        "tools": [{"name": "Bash", "input_schema": {"properties": {"url": {"default": ADDRESS}}}},
                  {"type": "bash_20250124", "name": "bash"}],
        "thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}, "metadata": {"user_id": "x"},
        "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]}, "stream": True,
    },
}  # fmt: skip
PATHS: Mapping[Api, str] = {"responses": "responses", "chat": "chat/completions", "messages": "messages"}


@pytest.mark.parametrize(("api", "name"), [(api, name) for api, cases in REFUSED.items() for name in cases])
def test_what_more_than_writing_it_asks_for_is_refused(tmp_path: Path, api: Api, name: str) -> None:
    with opens(tmp_path)() as world:
        response = world.post({"model": "m", **REFUSED[api][name]}, f"/v1/{PATHS[api]}")
        assert (response.status, world.provider.calls, world.gateway.problem) == (400, [], None)
        assert json.loads(response.read())["error"]["message"]


@pytest.mark.parametrize("api", ADMITTED)
def test_what_the_programs_send_is_not(api: Api) -> None:
    assert objection({"model": "m", **ADMITTED[api]}, api) is None


@pytest.mark.parametrize(
    ("api", "asked", "sent"),
    [
        ("responses", {}, {"max_output_tokens": 50}),
        ("responses", {"max_output_tokens": 100_000}, {"max_output_tokens": 50}),
        ("responses", {"max_output_tokens": 20}, {"max_output_tokens": 20}),
        ("chat", {}, {"max_tokens": 50}),
        ("chat", {"max_tokens": -1, "max_completion_tokens": 99}, {"max_tokens": 50, "max_completion_tokens": 50}),
        ("chat", {"max_completion_tokens": "many"}, {"max_completion_tokens": 50}),
        ("messages", {"max_tokens": 32_000}, {"max_tokens": 50}),
    ],
)
def test_the_cap_on_a_reply_is_kept(tmp_path: Path, api: Api, asked: dict[str, Any], sent: dict[str, Any]) -> None:
    with opens(tmp_path)(settings=SolveSettings(model="m", max_output_tokens=50)) as world:
        assert world.post({"model": "m", **asked}, f"/v1/{PATHS[api]}").status == 200
        assert json.loads(world.provider.calls[0].body) == {"model": "m", **sent}


def test_without_a_cap_the_program_has_its_own() -> None:
    assert json.loads(to_send({**BODY, "max_output_tokens": 9}, "responses", None, hosted=True)) == {
        **BODY, "max_output_tokens": 9,
    }  # fmt: skip


def test_the_server_of_openai_knows_the_new_name_alone() -> None:
    assert json.loads(to_send({"model": "m"}, "chat", 50, hosted=True)) == {"model": "m", "max_completion_tokens": 50}
