"""Reviews by people elsewhere: a file of JSON lines to fill in, imported completely or not at all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import astuple, dataclass, field
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, TypeAdapter, ValidationError

from scoregate.errors import UsageError
from scoregate.kernel.types.evaluation import EvaluationOverrideComment, EvaluationOverrideField
from scoregate.kernel.types.event_values import Choice
from scoregate.store import OVERRIDES, VERDICTS, Override, Store, Verdict
from scoregate.web.review_items import Battle, JudgedScore, Side, battle_key, judged_key, offered_choices
from scoregate.web.review_queue import Queue, save_reviews
from scoregate.web.review_session import BattleReviews

SEED = "elsewhere"  # not the reviewer's name, since the import has to find the same sides again
Comment = Annotated[str, Field(max_length=10_000)]


class _ReviewLine(BaseModel):
    """One line: an item to review and, at its end, fields to fill in; `decision` is empty or null before that."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: str
    key: str
    suite: str = ""
    evaluator: str = ""
    case: str = ""


class BattleLine(_ReviewLine):
    """Two outputs; `decision` is left, right or tie."""

    kind: Literal["battle"] = "battle"
    rubric: str = ""
    input: str = ""
    left: str
    right: str
    decision: str = Field(default="", pattern="^(left|right|tie|)$")
    comment: Comment = ""
    by: str = ""


class ScoreLine(_ReviewLine):
    """A judge's score; `decision` is the right score, the same if the judge is right. `choices` are possible scores.

    The score of a `sampled` line with choices is None, so that reviewers don't see it before they review.
    """

    kind: Literal["score"] = "score"
    score: FiniteFloat | None
    reason: str = ""
    choices: tuple[Choice, ...] = ()
    inputs: tuple[EvaluationOverrideField, ...] = ()
    outputs: tuple[EvaluationOverrideField, ...] = ()
    sampled: bool = False
    decision: Annotated[FiniteFloat, Field(ge=0, le=1)] | None = None
    comment: Comment = ""
    by: str = ""


REVIEW_LINES: TypeAdapter[BattleLine | ScoreLine] = TypeAdapter(
    Annotated[BattleLine | ScoreLine, Field(discriminator="kind")]
)


def select_for_export(queue: Queue, store: Store, reader: str) -> tuple[list[str], list[str]]:
    """Select the keys of the battles and scores to export.

    A file never contains both a battle and a score of one of its outputs. If the reader is known, battles that they
    have reviewed are skipped, and the scores of their outputs are included.

    Raises:
        StoreError: the reviews can't be read.
    """
    battles = list(BattleReviews(queue.battles, store, reader).open_battles(queue.battles) if reader else queue.battles)
    waiting = set(battles)
    return battles, [row.key for row in queue.judged.rows.values() if waiting.isdisjoint(row.battles)]


def format_lines(queue: Queue, battles: list[str], scores: list[str]) -> Iterator[str]:
    """Format the lines of an export, battles first."""
    for key in battles:
        battle = queue.battles[key]
        left, right = battle.texts(SEED)
        battle_line = BattleLine(
            key=battle.key,
            suite=battle.suite,
            evaluator=battle.evaluator,
            case=battle.name,
            rubric=battle.rubric,
            input=battle.input,
            left=left,
            right=right,
        )
        yield battle_line.model_dump_json() + "\n"
    for key in scores:
        judged = queue.judged[key]
        hidden = is_hidden(judged)
        score_line = ScoreLine(
            key=judged.key,
            suite=judged.suite,
            evaluator=judged.evaluator,
            case=judged.name,
            score=None if hidden else judged.score,
            reason="" if hidden else judged.reason,
            sampled=judged.sampled,
            choices=tuple(offered_choices(judged, ())) if judged.choices else (),
            inputs=judged.inputs,
            outputs=judged.outputs,
        )
        yield score_line.model_dump_json() + "\n"


def is_hidden(judged: JudgedScore) -> bool:
    """Whether an export hides the score of the judge."""
    return judged.sampled and bool(judged.choices)


_MAX_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class ImportedReviews:
    """The reviews in a file, by evaluator, and the numbers of lines without a review."""

    verdicts: dict[str, list[Verdict]] = field(default_factory=lambda: defaultdict(list))
    overrides: dict[str, list[Override]] = field(default_factory=lambda: defaultdict(list))
    empty: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The result of an import: the number of new, changed and unchanged reviews, and of lines without a review."""

    added: int
    changed: int
    known: int
    empty: int


def parse_lines(data: bytes, queue: Queue, samples: Queue, *, origin: str, by: str) -> ImportedReviews:
    """Parse the reviews in a file.

    Args:
        data: the content of the file.
        queue: the items of the run.
        samples: the items that a sample can contain.
        origin: the name of the file, for messages.
        by: the reviewer of lines without a name.

    Raises:
        UsageError: lines are invalid; the message lists them.
    """
    imported, problems = ImportedReviews(), list[str]()
    for number, text in _split_lines(data):
        try:
            line = _parse_line(text)
            sampled = isinstance(line, ScoreLine) and line.sampled
            _add_review(imported, number, line, queue=samples if sampled else queue, by=by)
        except ValueError as error:
            problems.append(f"{origin}:{number}: {error}")
        except UsageError as error:
            problems.append(f"{origin}:{number}: {error.message}")
    if problems:
        more = [f"and {len(problems) - _MAX_PROBLEMS} more"] if len(problems) > _MAX_PROBLEMS else []
        raise UsageError("\n".join([*problems[:_MAX_PROBLEMS], *more]), advice="Nothing was imported.")
    return imported


def save_import(store: Store, imported: ImportedReviews) -> ImportResult:
    """Save the reviews of a file. A later review of an item by the same person replaces an earlier one.

    Raises:
        StoreError: the reviews can't be written.
    """
    counts = [
        save_reviews(store, VERDICTS, evaluator, reviews=reviews, key=battle_key)
        for evaluator, reviews in imported.verdicts.items()
    ]
    counts += [
        save_reviews(store, OVERRIDES, evaluator, reviews=reviews, key=judged_key)
        for evaluator, reviews in imported.overrides.items()
    ]
    added, changed, known = (sum(column) for column in zip(*map(astuple, counts), strict=True)) if counts else (0, 0, 0)
    return ImportResult(added, changed, known, len(imported.empty))


def _split_lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    # Windows editors put a byte order mark before the first line.
    lines = enumerate(data.removeprefix(b"\xef\xbb\xbf").splitlines(), 1)
    return ((number, line) for number, line in lines if line.strip())


def _parse_line(line: bytes) -> BattleLine | ScoreLine:
    try:
        return REVIEW_LINES.validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        # The first part is the kind, which pydantic adds for a union.
        where = ".".join(str(part) for part in first["loc"][1:])
        raise ValueError(f"{where or 'line'}: {first['msg']}") from None


def _add_review(imported: ImportedReviews, number: int, line: BattleLine | ScoreLine, *, queue: Queue, by: str) -> None:
    if isinstance(line, BattleLine):
        battle = _battle_for(line, queue)
        if name := _line_reviewer(line, by, is_decided=line.decision != ""):
            verdict = battle.verdict(Side(line.decision), name, seed=SEED, comment=line.comment)
            imported.verdicts[battle.evaluator].append(verdict)
            return
    else:
        judged = _score_for(line, queue)
        if (name := _line_reviewer(line, by, is_decided=line.decision is not None)) and line.decision is not None:
            comments = [EvaluationOverrideComment("", "", line.comment)] if line.comment else []
            imported.overrides[judged.evaluator].append(judged.override(line.decision, name, comments=comments))
            return
    imported.empty.append(number)


def _line_reviewer(line: BattleLine | ScoreLine, by: str, *, is_decided: bool) -> str:
    """The reviewer of a line; empty if it has no review."""
    if is_decided and not (line.by.strip() or by):
        raise ValueError("by: the reviewer is missing; fill it in, or use --by")
    return (line.by.strip() or by) if is_decided else ""


def _battle_for(line: BattleLine, queue: Queue) -> Battle:
    if line.key not in queue.battles:
        raise ValueError(f"key: this run has no open battle {line.key!r:.40}")
    battle = queue.battles[line.key]
    if battle.texts(SEED) != (line.left, line.right):  # exchanged texts would turn the verdict around
        raise ValueError("left, right: these are not the exported outputs of this battle")
    return battle


def _score_for(line: ScoreLine, queue: Queue) -> JudgedScore:
    if line.key not in queue.judged:
        raise ValueError(f"key: this run has no judge's score {line.key!r:.40}")
    judged = queue.judged[line.key]
    score = None if is_hidden(judged) else judged.score
    if (score, judged.inputs, judged.outputs) != (line.score, line.inputs, line.outputs):
        raise ValueError("score, inputs, outputs: these are not the exported values of this score")
    return judged
