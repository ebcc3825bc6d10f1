"""What people elsewhere said: a file of lines that they have filled in, taken into the store whole or not at all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import astuple, dataclass, field

from pydantic import ValidationError

from scoregate.core.override import EvaluationOverrideComment
from scoregate.errors import UsageError
from scoregate.review.battles import Battle, Side, battle_key
from scoregate.review.judged import Judged, judged_key
from scoregate.review.keeping import keep_words
from scoregate.review.queue import Queue
from scoregate.review.sheets import SEED, SHEETS, BattleSheet, ScoreSheet, is_hidden
from scoregate.store import OVERRIDES, VERDICTS, Override, Store, Verdict

_MOST_TOLD = 20


@dataclass(frozen=True, slots=True)
class Said:
    """The words in a file, by evaluator, and how many of its lines say nothing."""

    verdicts: dict[str, list[Verdict]] = field(default_factory=lambda: defaultdict(list))
    overrides: dict[str, list[Override]] = field(default_factory=lambda: defaultdict(list))
    empty: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a file: how many words were new, others replaced, known before; how many lines say nothing."""

    added: int
    changed: int
    known: int
    empty: int


def imported(data: bytes, queue: Queue, samples: Queue, *, origin: str, by: str) -> Said:
    """What a file says.

    Args:
        queue: what there is to judge in the run. samples: what can be drawn from it.
        origin: how the file is called. by: who judged where a line does not say.

    Raises:
        UsageError: all that is wrong with it, each with its line.
    """
    said, wrong = Said(), []
    for number, line in _lines(data):
        try:
            sheet = _sheet(line)
            sampled = isinstance(sheet, ScoreSheet) and sheet.sampled
            _hear(said, number, sheet, queue=samples if sampled else queue, by=by)
        except ValueError as error:
            wrong.append(f"{origin}:{number}: {error}")
        except UsageError as error:
            wrong.append(f"{origin}:{number}: {error.message}")
    if wrong:
        more = [f"and {len(wrong) - _MOST_TOLD} more"] if len(wrong) > _MOST_TOLD else []
        raise UsageError("\n".join([*wrong[:_MOST_TOLD], *more]), advice="Nothing was imported.")
    return said


def take_in(store: Store, said: Said) -> Taken:
    """Keep the words; a later one of a person on the same thing replaces an earlier one.

    Raises:
        StoreError: they could not be written.
    """
    kept = [keep_words(store, VERDICTS, who, said=words, key=battle_key) for who, words in said.verdicts.items()]
    kept += [keep_words(store, OVERRIDES, who, said=words, key=judged_key) for who, words in said.overrides.items()]
    added, changed, known = (sum(column) for column in zip(*map(astuple, kept), strict=True)) if kept else (0, 0, 0)
    return Taken(added, changed, known, len(said.empty))


def _lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    lines = enumerate(data.removeprefix(b"\xef\xbb\xbf").splitlines(), 1)
    return ((number, line) for number, line in lines if line.strip())


def _sheet(line: bytes) -> BattleSheet | ScoreSheet:
    try:
        return SHEETS.validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"][1:])
        raise ValueError(f"{where or 'line'}: {first['msg']}") from None


def _hear(said: Said, number: int, sheet: BattleSheet | ScoreSheet, *, queue: Queue, by: str) -> None:
    if isinstance(sheet, BattleSheet):
        battle = _battle(sheet, queue)
        if name := _speaker(sheet, by, said=sheet.said != ""):
            verdict = battle.verdict(Side(sheet.said), name, seed=SEED, comment=sheet.comment)
            said.verdicts[battle.evaluator].append(verdict)
            return
    else:
        judged = _judged(sheet, queue)
        if (name := _speaker(sheet, by, said=sheet.said is not None)) and sheet.said is not None:
            comments = [EvaluationOverrideComment("", "", sheet.comment)] if sheet.comment else []
            said.overrides[judged.evaluator].append(judged.override(sheet.said, name, comments=comments))
            return
    said.empty.append(number)


def _speaker(sheet: BattleSheet | ScoreSheet, by: str, *, said: bool) -> str:
    """Who said something; empty where nothing is said."""
    if said and not (sheet.by.strip() or by):
        raise ValueError("by: nobody says who judged; fill it in, or name them with --by")
    return (sheet.by.strip() or by) if said else ""


def _battle(sheet: BattleSheet, queue: Queue) -> Battle:
    if sheet.key not in queue.battles:
        raise ValueError(f"key: no battle {sheet.key!r:.40} waits in this run")
    battle = queue.battles[sheet.key]
    if battle.texts(SEED) != (sheet.left, sheet.right):
        raise ValueError("left, right: these are not the outputs of this battle, as they were given out")
    return battle


def _judged(sheet: ScoreSheet, queue: Queue) -> Judged:
    if sheet.key not in queue.judged:
        raise ValueError(f"key: this run has no judge's score {sheet.key!r:.40}")
    judged = queue.judged[sheet.key]
    score = None if is_hidden(judged) else judged.score
    if (score, judged.inputs, judged.outputs) != (sheet.score, sheet.inputs, sheet.outputs):
        raise ValueError("score, inputs, outputs: these are not what was judged, as it was given out")
    return judged
