"""Limits in the headers of servers, in all their forms."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from scoregate.kernel.types.backoff import retry_after_s
from scoregate.models.rate_limit import Allowance, parse_seconds, reset_s


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_a_server_sets_the_retry_delay(headers: dict[str, str], expected: float | None) -> None:
    assert retry_after_s(headers, time.time()) == expected


def test_a_date_becomes_a_delay() -> None:
    then = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert retry_after_s({"retry-after": then}, time.time()) == pytest.approx(30, abs=2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("6m0s", 360.0), ("120ms", 0.12), ("1.5s", 1.5), ("1h2m3s", 3723.0), ("7", 7.0), ("soon", None), (None, None)],
)
def test_durations_are_read(text: str | None, expected: float | None) -> None:
    assert parse_seconds(text) == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize("unit", [1, 1000])
def test_a_time_becomes_a_duration(unit: int) -> None:
    assert parse_seconds(f"{(time.time() + 20) * unit:.0f}") == pytest.approx(20, abs=2)


def test_only_an_exhausted_limit_waits() -> None:
    headers = {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "3s",
        "x-ratelimit-remaining-tokens": "500",
        "x-ratelimit-reset-tokens": "40s",
    }
    assert reset_s(headers) == 3.0
    assert reset_s({}) is None


def make_allowance(
    left: float, *, reset: float, number: int = 1, limit: float = 600, started_at: float = 0.0
) -> Allowance:
    allowance = Allowance()
    headers = {
        "x-ratelimit-limit-requests": f"{limit}",
        "x-ratelimit-remaining-requests": f"{left}",
        "x-ratelimit-reset-requests": f"{reset}s",
    }
    allowance.update(headers, number=number, started_at=started_at, started=number, now=started_at)
    return allowance


def test_remaining_calls_start_at_once() -> None:
    allowance = make_allowance(50, reset=55)
    delays = []
    for _ in range(60):
        delays.append(allowance.delay_s(0.0))
        allowance.record_start(0.0)
    assert [delay > 0 for delay in delays] == [False] * 50 + [True] * 10


def test_an_exhausted_limit_refills_at_its_rate() -> None:
    allowance = make_allowance(0, reset=60)
    assert allowance.gap_s == pytest.approx(0.1, rel=0.05)
    assert allowance.delay_s(0.0) == pytest.approx(0.1, rel=0.05)
    assert allowance.delay_s(0.2) == 0.0


def test_a_short_reset_keeps_the_limit_per_minute() -> None:
    assert make_allowance(0, reset=0.1).gap_s == pytest.approx(0.1, rel=0.05)


def test_an_older_answer_is_ignored() -> None:
    allowance = make_allowance(0, reset=60, number=5)
    headers = {"x-ratelimit-limit-requests": "600", "x-ratelimit-remaining-requests": "99"}
    allowance.update(headers, number=4, started_at=0.0, started=5, now=0.0)
    assert allowance.delay_s(0.0) > 0


def test_calls_after_the_answered_one_count() -> None:
    allowance = make_allowance(50, reset=55, number=60)
    headers = {"x-ratelimit-limit-requests": "600", "x-ratelimit-remaining-requests": "10"}
    allowance.update(headers, number=70, started_at=0.0, started=80, now=0.0)
    assert allowance.delay_s(0.0) > 0
    for number in (71, 75):
        allowance.record_unsent(number)
    assert allowance.delay_s(0.0) == 0.0
    allowance.update(headers, number=72, started_at=0.0, started=80, now=0.0)
    assert allowance.delay_s(0.0) == 0.0  # 7 of 8 were sent


def test_the_bucket_refills_while_calls_fail_without_headers() -> None:
    allowance = make_allowance(10, reset=59)
    now = 0.0
    for _ in range(700):
        delay_s = allowance.delay_s(now)
        assert delay_s < 0.2
        now += delay_s
        allowance.record_start(now)


def test_no_headers_cause_no_delay() -> None:
    allowance = Allowance()
    allowance.update({}, number=1, started_at=0.0, started=100, now=0.0)
    assert (allowance.gap_s, allowance.delay_s(0.0)) == (None, None)
