"""The real model behind the openai SDK: what the gates rely on."""

import concurrent.futures
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from openai import AuthenticationError, BadRequestError, OpenAI

from pytest_toolgate.providers.embedded import (
    REUSE_PROMPT,
    Endpoint,
    Launcher,
    ModelFile,
    ServerSettings,
    connect,
)
from pytest_toolgate.providers.embedded.launcher import COMMAND, EmbeddedError
from pytest_toolgate.providers.embedded.model import ModelError, find_model

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

QUESTION = "Which keyword defines a function in Python? Answer with one word."


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    try:
        find_model()
    except ModelError as error:
        pytest.skip(str(error))
    directory = tmp_path_factory.mktemp("run")
    launcher = Launcher(directory, "local")
    launcher.start()
    yield connect(directory, "local")
    launcher.stop()


@pytest.fixture(scope="module")
def client(endpoint: Endpoint) -> Iterator[OpenAI]:
    with OpenAI(base_url=endpoint.base_url, api_key=endpoint.api_key, max_retries=0, timeout=600) as client:
        yield client


def ask(client: OpenAI, endpoint: Endpoint, text: str, tokens: int = 24, temperature: float = 0) -> str:
    reply = client.chat.completions.create(
        model=endpoint.model,
        messages=[{"role": "user", "content": text}],
        temperature=temperature,
        seed=7,
        max_tokens=tokens,
    )
    return reply.choices[0].message.content or ""


def test_the_model_is_listed_under_its_name(client: OpenAI, endpoint: Endpoint) -> None:
    assert [model.id for model in client.models.list()] == [endpoint.model]
    assert endpoint.model == find_model().name


def test_chat_answers_with_usage_and_the_model_served(client: OpenAI, endpoint: Endpoint) -> None:
    reply = client.chat.completions.create(
        model=endpoint.model, messages=[{"role": "user", "content": QUESTION}], temperature=0, max_tokens=16
    )
    assert "def" in (reply.choices[0].message.content or "").lower()
    assert reply.choices[0].finish_reason == "stop"
    assert reply.model == endpoint.model
    assert reply.usage is not None
    assert reply.usage.prompt_tokens > 10
    assert reply.usage.completion_tokens > 0


def test_responses_answers_with_usage_and_the_model_served(client: OpenAI, endpoint: Endpoint) -> None:
    reply = client.responses.create(model=endpoint.model, input=QUESTION, temperature=0, max_output_tokens=16)
    assert "def" in reply.output_text.lower()
    assert reply.status == "completed"
    assert reply.model == endpoint.model
    assert reply.usage is not None
    assert reply.usage.input_tokens > 10
    assert reply.usage.output_tokens > 0


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_seed_reproduces(client: OpenAI, endpoint: Endpoint, temperature: float) -> None:
    text = "Name three animals in a made-up story."
    first, second = (ask(client, endpoint, text, temperature=temperature) for _ in range(2))
    assert first == second != ""


def test_max_tokens_ends_a_reply_as_length(client: OpenAI, endpoint: Endpoint) -> None:
    reply = client.chat.completions.create(
        model=endpoint.model,
        messages=[{"role": "user", "content": "Count from one to a hundred."}],
        max_tokens=5,
    )
    assert reply.choices[0].finish_reason == "length"
    assert reply.usage is not None
    assert reply.usage.completion_tokens == 5


def test_eight_requests_at_once_all_answer(client: OpenAI, endpoint: Endpoint) -> None:
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        texts = [f"What is {number} plus {number}? Answer with the number only." for number in range(1, 9)]
        replies = list(pool.map(lambda text: ask(client, endpoint, text, tokens=8), texts))
    assert [str(2 * number) in reply for number, reply in enumerate(replies, 1)].count(True) >= 7
    assert all(replies)


def test_a_reply_is_the_same_while_others_are_asked(client: OpenAI, endpoint: Endpoint) -> None:
    text = "Name three animals in a made-up story."
    alone = ask(client, endpoint, text)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        others = [f"Tell a story of {number} towns." for number in range(4)]
        replies = list(pool.map(lambda each: ask(client, endpoint, each), [text, *others, text]))
    assert replies[0] == replies[-1] == alone


def test_the_same_question_with_other_options_is_not_read_twice_if_the_request_says_so(
    client: OpenAI, endpoint: Endpoint
) -> None:
    question = "Consider a bar of length L. " * 20
    other = "Consider a plate of thickness t. " * 20
    cached = []
    for text in (f"{question} A. 0.1 B. 0.2", f"{other} A. 3 B. 4", f"{question} A. 0.2 B. 0.1"):
        reply = client.chat.completions.create(
            model=endpoint.model,
            messages=[{"role": "user", "content": text}],
            max_tokens=1,
            extra_body=REUSE_PROMPT,
        )
        assert reply.usage is not None
        details = reply.usage.prompt_tokens_details
        cached.append((details.cached_tokens if details else None) or 0)
    assert cached[1] < 50
    assert cached[2] > 100


def test_a_prompt_beyond_the_context_is_a_clean_400(client: OpenAI, endpoint: Endpoint) -> None:
    with pytest.raises(BadRequestError, match="exceed"):
        ask(client, endpoint, "word " * 17000)
    assert ask(client, endpoint, QUESTION) != ""


def test_without_the_key_nothing_is_served(endpoint: Endpoint) -> None:
    with (
        OpenAI(base_url=endpoint.base_url, api_key="guess", max_retries=0) as stranger,
        pytest.raises(AuthenticationError),
    ):
        ask(stranger, endpoint, QUESTION)


def test_a_damaged_model_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "cut.gguf"
    path.write_bytes(b"GGUF" + bytes(100))
    settings = ServerSettings(model=ModelFile(path, "0" * 64, "TOOLGATE_LOCAL_MODEL", "cut"))
    launcher = Launcher(tmp_path, "local", settings)
    launcher.start()
    try:
        with pytest.raises(EmbeddedError, match=rf"could not start: llama\.cpp could not serve {path}"):
            connect(tmp_path, "local")
    finally:
        launcher.stop()


@pytest.mark.parametrize("line", [b"", b"\n", b"[]\n", b'{"path": "x"}\n', b"\xff\n"])
def test_an_unreadable_order_is_refused_on_stdout(line: bytes) -> None:
    done = subprocess.run(COMMAND, input=line, capture_output=True, check=False, env=dict(os.environ))
    assert done.returncode == 1
    assert done.stdout.startswith(b'{"error": "The embedded server')


def test_the_end_of_stdin_ends_a_server_that_serves(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path\n"
        "from pytest_toolgate.providers.embedded import Launcher, connect\n"
        "launcher = Launcher(Path(sys.argv[1]), 'local'); launcher.start()\n"
        "connect(Path(sys.argv[1]), 'local'); launcher.stop()\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=False)
    # Nothing of llama.cpp's log on the terminal, start to end.
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
