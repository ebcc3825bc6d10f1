"""What there is to judge for people elsewhere: a file of JSON lines, as blind as the page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, TypeAdapter

from scoregate.core.override import EvaluationOverrideField
from scoregate.core.parts import Choice
from scoregate.review.battles import Battle
from scoregate.review.judged import Judged, choices_of
from scoregate.review.queue import Queue
from scoregate.review.verdicts import Battles
from scoregate.store import Store

SEED = "elsewhere"
Comment = Annotated[str, Field(max_length=10_000)]


class _Sheet(BaseModel):
    """One line: something to judge, and, at its end, room for who judges it; `said` is empty, or null, before that."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: str
    key: str
    suite: str = ""
    evaluator: str = ""
    case: str = ""


class BattleSheet(_Sheet):
    """Two outputs; `said` is left, right or tie."""

    kind: Literal["battle"] = "battle"
    rubric: str = ""
    input: str = ""
    left: str
    right: str
    said: str = Field(default="", pattern="^(left|right|tie|)$")
    comment: Comment = ""
    by: str = ""


class ScoreSheet(_Sheet):
    """A judge's score; `said` is the right one, the same where the judge is right. `choices` are what it can give.

    Of a `sampled` one the score is None where there are choices, so that nobody knows it before they have judged.
    """

    kind: Literal["score"] = "score"
    score: FiniteFloat | None
    reason: str = ""
    choices: tuple[Choice, ...] = ()
    inputs: tuple[EvaluationOverrideField, ...] = ()
    outputs: tuple[EvaluationOverrideField, ...] = ()
    sampled: bool = False
    said: Annotated[FiniteFloat, Field(ge=0, le=1)] | None = None
    comment: Comment = ""
    by: str = ""


SHEETS: TypeAdapter[BattleSheet | ScoreSheet] = TypeAdapter(
    Annotated[BattleSheet | ScoreSheet, Field(discriminator="kind")]
)


def to_give_out(queue: Queue, store: Store, reader: str) -> tuple[list[str], list[str]]:
    """The keys of battles and of judges' scores that a file holds.

    Never both a battle and a score of an output that fights in it, whoever reads the file. Where it is known who is to
    fill it in, the battles that they have judged are not among it, and so the scores of those are.

    Raises:
        StoreError: what they have judged cannot be read.
    """
    battles = list(Battles(queue.battles, store, reader).waiting(queue.battles) if reader else queue.battles)
    waiting = set(battles)
    return battles, [row.key for row in queue.judged.rows.values() if waiting.isdisjoint(row.battles)]


def written(queue: Queue, battles: list[str], scores: list[str]) -> Iterator[str]:
    """A line each, with its end, battles first."""
    for key in battles:
        yield _battle(queue.battles[key]).model_dump_json() + "\n"
    for key in scores:
        yield _score(queue.judged[key]).model_dump_json() + "\n"


def is_hidden(judged: Judged) -> bool:
    """Whether a file does not tell what the judge said."""
    return judged.sampled and bool(judged.choices)


def _battle(battle: Battle) -> BattleSheet:
    left, right = battle.texts(SEED)
    return BattleSheet(
        key=battle.key,
        suite=battle.suite,
        evaluator=battle.evaluator,
        case=battle.name,
        rubric=battle.rubric,
        input=battle.input,
        left=left,
        right=right,
    )


def _score(judged: Judged) -> ScoreSheet:
    hidden = is_hidden(judged)
    return ScoreSheet(
        key=judged.key,
        suite=judged.suite,
        evaluator=judged.evaluator,
        case=judged.name,
        score=None if hidden else judged.score,
        reason="" if hidden else judged.reason,
        sampled=judged.sampled,
        choices=tuple(choices_of(judged, ())) if judged.choices else (),
        inputs=judged.inputs,
        outputs=judged.outputs,
    )
