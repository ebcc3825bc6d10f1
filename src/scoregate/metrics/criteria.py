"""What models answer that judge a goal: criterion by criterion."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any

from scoregate.core.evaluation import Assertion
from scoregate.judging.judge import turn_numbers

if TYPE_CHECKING:
    from pydantic import BaseModel

FEWEST, MOST = 2, 4


@lru_cache(maxsize=256)
def schema_of(turns: int, named: int, low: float, high: float) -> type[BaseModel]:
    """The schema of an answer.

    Args:
        turns: how many the conversation has. named: how many criteria are given by their numbers; 0 lets the model find
            two to four of its own. low, high: the bounds of the score.
    """
    from pydantic import Field, create_model

    number: Any = (Annotated[int, Field(ge=1, le=named)], Field(description="The criterion's number."))
    words: Any = (str, Field(min_length=1, max_length=300, description="The criterion, in a sentence."))
    judged: Any = create_model(
        "CriterionJudgement",
        criterion=number if named else words,
        evidence=(str, Field(description="What was said that shows whether it is met.")),
        relevant_turns=turn_numbers(turns),
        met=(bool, Field(description="Whether it is met; False where nothing shows it.")),
    )
    fewest, most = (named, 2 * named) if named else (FEWEST, MOST)
    grade: Any = Annotated[float, Field(ge=low, le=high, allow_inf_nan=False)]
    share: Any = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
    return create_model(
        "GoalJudgement",
        reason=(str, Field(description="Why the goal was reached or not, in a few sentences; written first.")),
        criteria_evaluations=(list[judged], Field(min_length=fewest, max_length=most)),
        score=(grade, Field(description="How much of the goal was reached.")),
        confidence=(share, Field(description="How sure this judgement is, from 0 to 1.")),
    )


def assertions_of(answer: Any, criteria: Sequence[str]) -> tuple[Assertion, ...]:
    """What was found of each criterion; one that was not judged is not met, nor one that was judged both ways.

    Args:
        criteria: those that were given by number; none: those of the answer.
    """
    found = answer.criteria_evaluations
    if not criteria:
        return tuple(_assertion(each.criterion, [each]) for each in found)
    by_number = {number: [each for each in found if each.criterion == number] for number in range(1, len(criteria) + 1)}
    return tuple(_assertion(criterion, by_number[number]) for number, criterion in enumerate(criteria, 1))


def _assertion(criterion: str, found: Sequence[Any]) -> Assertion:
    met = bool(found) and all(each.met for each in found)
    evidence = " / ".join(each.evidence for each in found) or "it was not judged"
    turns = sorted({turn for each in found for turn in each.relevant_turns})
    return Assertion(criterion, met, required=True, metadata={"evidence": evidence, "relevant_turns": turns})
