"""Bodies of replies as the servers of this world shape them, over both protocols.

After OpenAI's reference and the sources of vLLM, Ollama and llama.cpp's server. They differ where it matters to a
client: in what says that a reply was cut, where the reasoning stands, and which tokens are counted.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from exchange import INPUT_TOKENS, Asked, Reply

Body = dict[str, Any]
# From the protocol asked over (`responses` or `chat`), what the model says, and its name.
Shape = Callable[[str, Reply, str], Body]


def openai(api: str, reply: Reply, model: str) -> Body:
    """OpenAI: reasoning is an item without words, and counted among the output tokens."""
    if api == "chat":
        message: Body = {"role": "assistant", "content": reply.text, "refusal": None, "annotations": []}
        if reply.refusal:
            message |= {"content": None, "refusal": reply.refusal}
        usage = {
            **_chat_usage(reply),
            "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": reply.reasoning, "audio_tokens": 0},
        }
        return _chat(model, message, reply, usage) | {"service_tier": "default", "system_fingerprint": None}
    items: list[Body] = [{"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": None}]
    if not (reply.reasoning and reply.ended == "length" and not reply.text):
        # A model that spent its cap on reasoning leaves no message at all.
        items.append(_message(reply, "completed" if reply.ended == "stop" else "incomplete"))
    usage = {
        **_responses_usage(reply),
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": reply.reasoning},
    }
    return _responses(model, items, reply, usage) | {"error": None, "store": False}


def vllm(api: str, reply: Reply, model: str) -> Body:
    """vLLM: the reasoning is shown, under one of two names, and over Chat its tokens are not told apart."""
    if api == "chat":
        message = {
            "role": "assistant",
            "content": reply.text or None,
            "refusal": None,
            "annotations": None,
            "audio": None,
            "function_call": None,
            "reasoning": reply.thought or None,
            "reasoning_content": reply.thought or None,
        }
        body = _chat(model, message, reply, {**_chat_usage(reply), "prompt_tokens_details": None})
        body["choices"][0] |= {"logprobs": None, "stop_reason": None, "token_ids": None}
        return body | {"prompt_logprobs": None, "prompt_token_ids": None, "kv_transfer_params": None}
    items = [*_shown_thought(reply), *([_message(reply, "completed")] if reply.text else [])]
    usage = {
        **_responses_usage(reply),
        "input_tokens_details": {"cached_tokens": 0, "input_tokens_per_turn": []},
        "output_tokens_details": {"reasoning_tokens": reply.reasoning, "tool_output_tokens": 0},
    }
    return _responses(model, items, reply, usage) | {"max_output_tokens": 4096, "service_tier": "auto"}


def ollama(api: str, reply: Reply, model: str) -> Body:
    """Ollama: its Responses endpoint calls every reply completed, a cut one as well, and counts no reasoning."""
    if api == "chat":
        message = {"role": "assistant", "content": reply.text} | ({"reasoning": reply.thought} if reply.thought else {})
        return _chat(model, message, reply, _chat_usage(reply)) | {"system_fingerprint": "fp_ollama"}
    thought = {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": reply.thought}]}
    items = [*([thought] if reply.thought else []), _message(reply, "completed")]
    usage = {
        **_responses_usage(reply),
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    return _responses(model, items, reply, usage) | {"status": "completed", "incomplete_details": None, "error": None}


def llama_cpp(api: str, reply: Reply, model: str) -> Body:
    """llama.cpp's server: its Responses endpoint calls every reply completed, and knows no reasoning tokens."""
    if api == "chat":
        message = {"role": "assistant", "content": reply.text}
        message |= {"reasoning_content": reply.thought} if reply.thought else {}
        timings = {"cache_n": 0, "prompt_n": INPUT_TOKENS, "predicted_n": reply.output, "predicted_per_second": 33.3}
        return _chat(model, message, reply, _chat_usage(reply)) | {
            "system_fingerprint": "b7000-1a2b",
            "timings": timings,
        }
    items = [*_shown_thought(reply), *([_message(reply, "completed")] if reply.text else [])]
    body = _responses(model, items, reply, _responses_usage(reply)) | {"completed_at": 0, "status": "completed"}
    del body["incomplete_details"]
    return body


SHAPES: Mapping[str, Shape] = {"openai": openai, "vllm": vllm, "ollama": ollama, "llama.cpp": llama_cpp}


def body_of(asked: Asked, reply: Reply, shape: Shape) -> bytes:
    """The bytes that a server of this kind sends."""
    if reply.raw is not None:
        return reply.raw
    if reply.status != 200:
        return json.dumps({"error": dict(reply.error)}).encode()
    body = shape(asked.api, reply, reply.model or asked.model)
    return json.dumps(_calling(asked, body, reply) if reply.calls else body).encode()


def _calling(asked: Asked, body: Body, reply: Reply) -> Body:
    """The body of a reply that calls tools, which is the same with all of them."""
    calls = [(f"call_{asked.turn}_{i}", {"name": n, "arguments": a}) for i, (n, a) in enumerate(reply.calls)]
    if asked.api == "chat":
        choice = body["choices"][0]
        choice["message"] |= {
            "content": reply.text or None,
            "tool_calls": [{"id": id_, "type": "function", "function": call} for id_, call in calls],
        }
        choice["finish_reason"] = "tool_calls" if reply.ended == "stop" else choice["finish_reason"]
        return body
    items = [item for item in body["output"] if reply.text or item["type"] != "message"]
    whole = "completed" if reply.ended == "stop" else "incomplete"
    items += [{"type": "function_call", "id": f"fc_{id_}", "call_id": id_, "status": whole, **c} for id_, c in calls]
    return body | {"output": items}


def _chat_usage(reply: Reply) -> Body:
    output = reply.output + reply.reasoning
    return {"prompt_tokens": INPUT_TOKENS, "completion_tokens": output, "total_tokens": INPUT_TOKENS + output}


def _responses_usage(reply: Reply) -> Body:
    output = reply.output + reply.reasoning
    return {"input_tokens": INPUT_TOKENS, "output_tokens": output, "total_tokens": INPUT_TOKENS + output}


def _chat(model: str, message: Mapping[str, Any], reply: Reply, usage: Mapping[str, Any]) -> Body:
    finish = "content_filter" if reply.ended == "filter" else reply.ended
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": usage,
    }


def _responses(model: str, items: list[Body], reply: Reply, usage: Mapping[str, Any]) -> Body:
    reason = {"length": "max_output_tokens", "filter": "content_filter"}.get(reply.ended)
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 0,
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "model": model,
        "output": items,
        "usage": usage,
    }


def _message(reply: Reply, status: str) -> Body:
    part: Body = {"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []}
    if reply.refusal:
        part = {"type": "refusal", "refusal": reply.refusal}
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": status, "content": [part]}


def _shown_thought(reply: Reply) -> list[Body]:
    content = [{"type": "reasoning_text", "text": reply.thought}]
    item = {"type": "reasoning", "id": "rs_1", "summary": [], "content": content, "status": "completed"}
    return [item] if reply.thought else []
