"""The scores that a judge can give: a person's word on one is one of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from scoregate.core.parts import Choice, EvaluatorInfo
from scoregate.errors import UsageError

_NEAR = 1e-9


def choices_known(evaluator: str, suites: Iterable[Mapping[str, EvaluatorInfo]]) -> tuple[Choice, ...]:
    """All that judges of this name choose among; none where one of them may give any score, or none is there.

    Args:
        suites: the evaluators of each by name.
    """
    found = [known[evaluator].choices for known in suites if evaluator in known]
    return tuple(choice for each in found for choice in each) if all(found) else ()


def is_choice(score: float, choices: Iterable[Choice]) -> bool:
    """Whether a score is that of one of them."""
    return any(abs(each.value - score) <= _NEAR for each in choices)


def chosen_score(score: float, own: float, choices: Sequence[Choice], *, evaluator: str) -> float:
    """A person's score of what a judge gave `own`, as the judge writes it: one of its choices, where known, or `own`.

    Raises:
        UsageError: it is none of them.
    """
    known = [*(each.value for each in choices), own] if choices else [score]
    if found := [value for value in known if abs(value - score) <= _NEAR]:
        return found[0]
    raise UsageError(f"score: {evaluator} chooses among {told(choices)}, and {score:g} is none of them")


def told(choices: Iterable[Choice]) -> str:
    """The choices with their names: `1 (Yes), 0 (No)`."""
    return ", ".join(dict.fromkeys(f"{each.value:g} ({each.name})" if each.name else f"{each.value:g}"
                                   for each in choices))  # fmt: skip
