"""When a failed call is worth another request, and after how long."""

import datetime
import email.utils
import math
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass

from ..config import Retries

# Of the statuses below 500, and those above that say something about the request after all.
_TRANSIENT = frozenset({408, 409, 425, 429})
_LASTING = frozenset({501, 505})


@dataclass(frozen=True, slots=True)
class Failure:
    """A request that brought no reply.

    Attributes:
        sentence: What happened.
        status: HTTP status, None when there was no answer at all.
        retry_after: Seconds the server asks to wait, None when it does not say.
        quota: The account is exhausted.
        about_tools: What the server says has to do with tools.
        unheard: We stopped waiting, and the server may still be at work.
    """

    sentence: str
    status: int | None = None
    retry_after: float | None = None
    quota: bool = False
    about_tools: bool = False
    unheard: bool = False

    @property
    def transient(self) -> bool:
        """Whether the same request may succeed later."""
        if self.quota or self.status is None:
            return not self.quota
        return self.status in _TRANSIENT or (self.status >= 500 and self.status not in _LASTING)


def wait_before_retry(failure: Failure, requests: int, retries: Retries) -> float | None:
    """Seconds to wait before the next request, or None to give up.

    A server that names a time is never asked earlier; one that names more than `max_wait` is not waited for. Every wait
    is a little longer or shorter than another, so that calls that failed together do not come back together.

    Args:
        failure: How the last request failed.
        requests: Requests made so far.
        retries: What is configured.
    """
    if not failure.transient or requests >= retries.attempts:
        return None
    longest = min(retries.max_wait, 0.5 * 2.0 ** min(requests - 1, 30))
    backoff = longest * random.uniform(0.75, 1.0)
    if failure.retry_after is None:
        return backoff
    if failure.retry_after > retries.max_wait:
        return None
    return min(retries.max_wait, max(backoff, failure.retry_after + longest * random.uniform(0.0, 0.25)))


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait that the headers of a response ask for, as seconds or as an HTTP date."""
    value = headers.get("retry-after", "")
    asked = [_seconds(value), _seconds_until(value, headers.get("date", ""))]
    milliseconds = _seconds(headers.get("retry-after-ms", ""))
    asked.append(None if milliseconds is None else milliseconds / 1000)
    known = [seconds for seconds in asked if seconds is not None]
    return max(0.0, *known) if known else None


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return None if math.isnan(seconds) else seconds


def _seconds_until(text: str, now: str) -> float | None:
    """Seconds until a date, by our clock or by the server's, whichever is the longer: either may be wrong."""
    date = _moment(text)
    if date is None:
        return None
    theirs = _moment(now)
    return date - (time.time() if theirs is None else min(theirs, time.time()))


def _moment(text: str) -> float | None:
    try:
        date = email.utils.parsedate_to_datetime(text)
        # One of the forms of an HTTP date names no zone; all of them are in UTC.
        return (date if date.tzinfo else date.replace(tzinfo=datetime.UTC)).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
