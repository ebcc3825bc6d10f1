"""Names and fingerprints of scorers: what makes two of them the same in two runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from scoregate import evaluate
from scoregate.kernel.types.event_values import EvaluatorInfo


def info(scorer: Any) -> EvaluatorInfo:
    result = evaluate("demo", data=[{"input": "a", "expected": "a"}], task=lambda input: input, scorers=scorer)  # noqa: A006
    assert result.errors == ()
    (found,) = result.evaluators.values()
    return found


def at_least(limit: int) -> Callable[[str], bool]:
    def long_enough(output: str) -> bool:
        return len(output) >= limit

    return long_enough


def contains(output: str, part: str = "a") -> bool:
    return part in output


class Callee:
    def __init__(self, part: str) -> None:
        self.part = part

    def __call__(self, output: str) -> bool:
        return self.part in output


def test_scorers_have_readable_names() -> None:
    pairs = [lambda output: len(output) < 3, lambda output: len(output) < 4]
    for scorer, name in (
        (contains, "contains"),
        (partial(contains, part="b"), "contains"),
        (Callee("a"), "Callee"),
        (at_least(1), "long_enough"),
        (pairs[0], "len(output) < 3"),
        (pairs[1], "len(output) < 4"),
        (lambda: True, "True"),
        (lambda output: 1 if output else 0, "1 if output else 0"),
        (lambda output: f"{output}" == "a", 'f"{output}" == "a"'),
        (
            lambda output: "a long expression is cut after sixty characters, so that it fits" in output,
            '"a long expression is cut after sixty characters, so that i…',
        ),
    ):
        assert info(scorer).id == name


def test_a_fingerprint_depends_on_source_and_values() -> None:
    same = info(at_least(1)).fingerprint
    assert same is not None
    assert same == info(at_least(1)).fingerprint
    other = info(at_least(2)).fingerprint
    assert other is not None
    assert (other.source, other.parameters == same.parameters) == (same.source, False)
    assert info(partial(contains, part="a")).fingerprint != info(partial(contains, part="b")).fingerprint
    assert info(Callee("a")).fingerprint != info(Callee("b")).fingerprint
    first = info(lambda output: len(output) < 3)
    second = info(lambda output: len(output) < 4)
    assert first.fingerprint != second.fingerprint
