"""The outputs that challengers have to beat, by suite and evaluator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scoregate.store.kinds import Kind
from scoregate.store.lines import JSON_LINES
from scoregate.store.protocol import Store
from scoregate.store.words import Item


class Champion(Item):
    """The best output for one test case so far; `case` is its hash."""

    case: str
    output: str


def _case(champion: Champion) -> str:
    return champion.case


CHAMPIONS = Kind("champions", Champion, JSON_LINES, ("suite", "evaluator"), _case)


def champions(store: Store, suite: str, evaluator: str) -> dict[str, str]:
    """The champion of every case that has one, by the case's hash.

    Raises:
        StoreError: they cannot be read.
    """
    return {each.case: each.output for each in store.read(CHAMPIONS, (suite, evaluator))}


def crown(store: Store, suite: str, evaluator: str, *, outputs: Mapping[str, str]) -> None:
    """Make these outputs, by their cases' hashes, the champions; other cases keep theirs.

    Raises:
        StoreError: they could not be written.
    """
    new = [Champion(case=case, output=output) for case, output in outputs.items()]

    def change(present: Iterable[Champion]) -> Iterable[Champion]:
        return [*present, *new]

    store.update(CHAMPIONS, (suite, evaluator), change)
