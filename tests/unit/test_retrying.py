"""When a failed call is worth another request, and after how long."""

import email.utils
import time

import pytest

from pytest_toolgate.config import Retries
from pytest_toolgate.providers.retrying import Failure, read_retry_after, wait_before_retry

RETRIES = Retries(attempts=5, max_wait=60)


@pytest.mark.parametrize("status", [None, 408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_what_may_succeed_later_is_asked_again(status: int | None) -> None:
    assert wait_before_retry(Failure("x", status), 1, RETRIES) is not None


@pytest.mark.parametrize(
    "failure",
    [
        *(pytest.param(Failure("x", status), id=f"{status}") for status in (0, 301, 400, 401, 403, 404, 413, 422, 501)),
        pytest.param(Failure("context_length_exceeded", 400), id="D05"),
        pytest.param(Failure("insufficient_quota", 429, quota=True), id="D09"),
        pytest.param(Failure("unsupported_parameter", 400), id="D13"),
        pytest.param(Failure("x", 429, retry_after=300), id="D11-beyond-max-wait"),
        pytest.param(Failure("x", 429, retry_after=float("inf")), id="D11-for-ever"),
    ],
)
def test_what_will_not_is_given_up_at_once(failure: Failure) -> None:
    assert wait_before_retry(failure, 1, RETRIES) is None


def test_the_first_request_counts_as_an_attempt() -> None:
    waits = [wait_before_retry(Failure("x", 500), requests, RETRIES) is not None for requests in range(1, 7)]
    assert waits == [True, True, True, True, False, False]
    assert wait_before_retry(Failure("x", 500), 1, Retries(attempts=1)) is None


@pytest.mark.parametrize("asked", [0.0, 1.0, 59.0, 60.0])
def test_a_server_is_never_asked_earlier_than_it_says(asked: float) -> None:
    """D11."""
    for requests in range(1, 5):
        wait = wait_before_retry(Failure("x", 429, retry_after=asked), requests, RETRIES)
        assert wait is not None
        assert asked <= wait <= 60


def test_waits_grow_to_the_longest_allowed() -> None:
    retries = Retries(attempts=10**6, max_wait=60)
    waits = [wait_before_retry(Failure("x", 500), requests, retries) for requests in (1, 2, 5, 8, 1000, 100_000)]
    for wait, longest in zip(waits, (0.5, 1, 8, 60, 60, 60), strict=True):
        assert wait is not None
        assert 0.75 * longest <= wait <= longest


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        pytest.param({}, None, id="none"),
        pytest.param({"retry-after": "1"}, 1, id="D11-seconds"),
        pytest.param({"retry-after": "1.5"}, 1.5, id="fraction"),
        pytest.param({"retry-after": "0"}, 0, id="zero"),
        pytest.param({"retry-after": "-5"}, 0, id="negative"),
        pytest.param({"retry-after": "inf"}, float("inf"), id="infinite"),
        pytest.param({"retry-after": "nan"}, None, id="nan"),
        pytest.param({"retry-after": "soon"}, None, id="word"),
        pytest.param({"retry-after": ""}, None, id="empty"),
        pytest.param({"retry-after": "Sun, 06 Nov 1994 08:49:37 GMT"}, 0, id="past"),
        pytest.param({"retry-after": "Sun, 99 Nov 99999 08:49:37 GMT"}, None, id="odd-date"),
        pytest.param({"retry-after-ms": "1500"}, 1.5, id="milliseconds"),
        pytest.param({"retry-after-ms": "x", "retry-after": "30"}, 30, id="odd-milliseconds"),
        pytest.param({"retry-after-ms": "nan", "retry-after": "30"}, 30, id="nan-milliseconds"),
        pytest.param({"retry-after-ms": "10", "retry-after": "2"}, 2, id="the-longer-one"),
    ],
)
def test_reading_the_headers(headers: dict[str, str], seconds: float | None) -> None:
    assert read_retry_after(headers) == seconds


def test_a_date_to_come() -> None:
    seconds = read_retry_after({"retry-after": email.utils.formatdate(time.time() + 100, usegmt=True)})
    assert seconds is not None
    assert 97 < seconds <= 100
