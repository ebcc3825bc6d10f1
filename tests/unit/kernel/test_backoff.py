"""Delays before a retry."""

from __future__ import annotations

import pytest

from scoregate.kernel.types.backoff import backoff_s, retry_after_s

NOW = 1_800_000_000.0


def test_a_delay_doubles_up_to_its_limit() -> None:
    delays = [backoff_s(attempt, first_s=0.5, longest_s=3.0) for attempt in (1, 2, 3, 4, 5)]
    assert delays == [0.5, 1.0, 2.0, 3.0, 3.0]


def test_any_number_of_attempts_has_a_delay() -> None:
    assert backoff_s(100_000, first_s=1.0, longest_s=60.0) == 60.0


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "-7"}, 0.0),
        ({"retry-after": "7", "retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "-7"}, 0.0),
        ({"retry-after": "Fri, 15 Jan 2027 08:00:30 GMT"}, 30.0),
        ({"retry-after": "Fri, 15 Jan 2027 07:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Fri, 15 Jan 99999 08:00:30 GMT"}, None),
    ],
)
def test_a_server_sets_the_delay(headers: dict[str, str], expected: float | None) -> None:
    assert retry_after_s(headers, NOW) == expected
