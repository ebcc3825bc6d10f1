"""Battles for people elsewhere: a file of JSON lines, as blind as the page, and what comes back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scoregate.errors import UsageError
from scoregate.review.battles import Battle, Side
from scoregate.review.queue import Spool
from scoregate.store import VERDICTS, Store, Verdict
from scoregate.store.words import keep

_SEED = "elsewhere"
_MOST_TOLD = 20


class Sheet(BaseModel):
    """One line: a battle, and room for who judges it. `said` is left, right or tie; empty where nobody has."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str
    suite: str = ""
    evaluator: str = ""
    case: str = ""
    rubric: str = ""
    input: str = ""
    left: str
    right: str
    said: str = Field(default="", pattern="^(left|right|tie|)$")
    comment: str = Field(default="", max_length=10_000)
    by: str = ""


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a file: how many words were new, others replaced, known before; how many lines say nothing."""

    added: int
    changed: int
    known: int
    empty: int


def exported(battles: Spool[Battle]) -> Iterator[str]:
    """A line a battle, each with its end."""
    for key in battles:
        battle = battles[key]
        left, right = battle.texts(_SEED)
        about = {"suite": battle.suite, "evaluator": battle.evaluator, "case": battle.name, "rubric": battle.rubric}
        yield Sheet(key=key, **about, input=battle.input, left=left, right=right).model_dump_json() + "\n"


def imported(lines: bytes, battles: Spool[Battle], *, origin: str, by: str) -> tuple[dict[str, list[Verdict]], int]:
    """The verdicts of a file by evaluator, and how many of its lines say nothing.

    Args:
        origin: how the file is called. by: who judged where a line does not say.

    Raises:
        UsageError: all that is wrong with it, each with its line.
    """
    said: dict[str, list[Verdict]] = {}
    wrong, empty = [], 0
    for number, line in enumerate(lines.removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
        if not line.strip():
            continue
        try:
            found = _verdict(line, battles, by)
        except ValueError as error:
            wrong.append(f"{origin}:{number}: {error}")
            continue
        if found is None:
            empty += 1
        else:
            said.setdefault(found[0], []).append(found[1])
    if wrong:
        more = [f"and {len(wrong) - _MOST_TOLD} more"] if len(wrong) > _MOST_TOLD else []
        raise UsageError("\n".join([*wrong[:_MOST_TOLD], *more]), advice="Nothing was imported.")
    return said, empty


def take_in(store: Store, said: dict[str, list[Verdict]], empty: int) -> Taken:
    """Keep the verdicts; a later word of a person on a battle replaces an earlier one.

    Raises:
        StoreError: they could not be written.
    """
    kept = [keep(store, VERDICTS, (evaluator,), verdicts) for evaluator, verdicts in said.items()]
    return Taken(
        sum(each.added for each in kept), sum(each.changed for each in kept), sum(each.known for each in kept), empty
    )


def _verdict(line: bytes, battles: Spool[Battle], by: str) -> tuple[str, Verdict] | None:
    try:
        sheet = Sheet.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise ValueError(f"{'.'.join(map(str, first['loc'])) or 'line'}: {first['msg']}") from None
    if sheet.key not in battles:
        raise ValueError(f"key: no battle {sheet.key!r:.40} waits in this run")
    battle = battles[sheet.key]
    if battle.texts(_SEED) != (sheet.left, sheet.right):
        raise ValueError("left, right: these are not the outputs of this battle, as they were exported")
    if not sheet.said:
        return None
    if not (name := sheet.by.strip() or by):
        raise ValueError("by: nobody says who judged; fill it in, or name them with --by")
    said = battle.verdict(battle.winner(Side(sheet.said), _SEED), name, sheet.comment)
    return battle.evaluator, said.model_copy(update={"created_at": datetime.now(UTC)})
