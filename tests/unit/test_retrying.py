"""When a failed call is worth another request, and after how long."""

import datetime
import email.utils
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def test_calls_that_were_told_the_same_time_do_not_come_back_together() -> None:
    waits = {wait_before_retry(Failure("x", 429, retry_after=10), 3, RETRIES) for _ in range(50)}
    assert len(waits) > 40
    assert all(wait is not None and 10 <= wait <= 10.5 for wait in waits)


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


def date(seconds: float) -> str:
    return email.utils.formatdate(time.time() + seconds, usegmt=True)


def test_a_date_to_come() -> None:
    seconds = read_retry_after({"retry-after": date(100)})
    assert seconds is not None
    assert 97 < seconds <= 100


def test_a_date_by_a_clock_that_goes_wrong() -> None:
    """The server asks for 100 seconds, whatever it takes the time for; nobody comes back earlier."""
    slow = read_retry_after({"retry-after": date(100 - 3600), "date": date(-3600)})
    assert slow is not None
    assert 99 <= slow <= 101
    fast = read_retry_after({"retry-after": date(100 + 3600), "date": date(3600)})
    assert fast is not None
    assert fast >= 99
    assert read_retry_after({"retry-after": "5", "date": "yesterday"}) == 5


@pytest.fixture
def far_west(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine whose local time is not UTC."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "XXX+10")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("far_west")
@pytest.mark.parametrize("form", ["%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y"])
def test_every_form_of_an_http_date_is_in_utc(form: str) -> None:
    to_come = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=100)
    seconds = read_retry_after({"retry-after": to_come.strftime(form)})
    assert seconds is not None
    assert 97 < seconds <= 100


@given(
    st.text(max_size=40) | st.text("0123456789:, +-GMTSunNov.", max_size=40), st.text("0123456789:, +-GMT", max_size=30)
)
def test_no_header_raises(value: str, now: str) -> None:
    seconds = read_retry_after({"retry-after": value, "retry-after-ms": value, "date": now})
    assert seconds is None or seconds >= 0
