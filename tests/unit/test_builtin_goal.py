"""Which file a reply of the built-in agent's model proposes."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_toolgate.agents.builtin_goal import MAX_FILE, proposed_file
from pytest_toolgate.agents.builtin_moves import read_move
from pytest_toolgate.providers import Response

_REPLY = 8 * 1024 * 1024  # characters that a reply may have


@pytest.mark.parametrize(
    ("text", "file"),
    [
        pytest.param("```yaml\na: 1\n```", "a: 1\n", id="whole"),
        pytest.param("So:\n\n```yml\na: 1\nb: 2\n```\nDone.", "a: 1\nb: 2\n", id="between-words"),
        pytest.param("  ``` YAML \t\r\na: 1\r\n\t``` \r\n", "a: 1\r\n", id="blanks-and-carriage-returns"),
        pytest.param("```yaml\na: 1\n```\n```yaml\na: 2\n```", "a: 2\n", id="the-last-one"),
        pytest.param("```yaml\na: 1", "a: 1\n", id="never-closed"),
        pytest.param("```yaml\na: 1\n\n", "a: 1\n\n", id="never-closed-with-line-ends"),
        pytest.param("```yaml\na: 1\n```\n```yaml\na: 2", "a: 1\n", id="a-whole-one-goes-before-one-that-was-cut"),
        pytest.param("```yaml\na: |\n ```yaml\n ```\nc: 1\n```", "a: |\n ```yaml\n ```\nc: 1\n", id="nested"),
        pytest.param("```yaml\na: ```\n```b\n```", "a: ```\n```b\n", id="a-fence-is-a-line-of-its-own"),
        pytest.param("x```yaml\na: 1\n```", "", id="in-the-middle-of-a-line"),
        pytest.param("```python\na = 1\n```", "", id="another-language"),
        pytest.param("```yaml\n```", "", id="empty"),
        pytest.param("```yaml\n \n```\nx", "", id="blank"),
        pytest.param("```yaml", "", id="only-a-fence"),
        pytest.param("", "", id="nothing"),
    ],
)  # fmt: skip
def test_the_file_in_a_reply(text: str, file: str) -> None:
    assert proposed_file(text) == file


def test_a_file_is_handed_on_up_to_a_length_that_says_it_is_too_long() -> None:
    assert len(proposed_file("```yaml\n" + "x" * (MAX_FILE - 1) + "\n```")) == MAX_FILE
    assert len(proposed_file("```yaml\n" + "x" * (4 * MAX_FILE) + "\n```")) == MAX_FILE + 1


_LINES = st.sampled_from(["```yaml", " ```yml ", "```", "  ```", "```python", "a: 1", "x```yaml", "", "\r", "a: ```"])


@given(st.lists(_LINES))
def test_what_is_found_stands_between_an_opening_fence_and_the_next_closing_one(lines: list[str]) -> None:
    text = "\n".join(lines)
    file = proposed_file(text)
    if file:
        assert f"\n{file}".rstrip("\n") in f"\n{text}"
        assert "```" not in file.split("\n")  # one so far to the left would have closed it


@pytest.mark.parametrize(
    "piece",
    ["x```yaml\n", "```yaml\n", "```yaml\n ", "```yaml\nx\n```\n", "\n", " ", "`", "```", "```yaml\n  ```\n", "\r"],
)
@pytest.mark.parametrize("begin", ["", "```yaml\n", "```", "```yaml"])
def test_the_longest_reply_is_read_at_once(begin: str, piece: str) -> None:
    text = begin + piece * (_REPLY // len(piece))
    begun = time.process_time()
    proposed_file(text)
    assert time.process_time() - begun < 5


@pytest.mark.parametrize("begin", ["```", "```python", "```python\nx\n"])
def test_the_longest_reply_without_a_file_is_read_at_once(begin: str) -> None:
    begun = time.process_time()
    read_move(Response("complete", begin + " " * _REPLY + "x"), {})
    assert time.process_time() - begun < 5
