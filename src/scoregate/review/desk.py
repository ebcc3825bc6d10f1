"""What a reviewer sees and says: what there is to judge in a run beside the words of all people in the store."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterable
from typing import Any

from pydantic_core import to_json

from scoregate.core.override import EvaluationOverrideComment
from scoregate.errors import UsageError
from scoregate.review.battles import digest
from scoregate.review.corrections import Corrections
from scoregate.review.queue import Queue
from scoregate.review.verdicts import Battles
from scoregate.store import Store


class Desk:
    """One reviewer's place at a run, which is called `title` and is kept in `folder`. Threads may share it."""

    def __init__(self, queue: Queue, store: Store, reviewer: str, *, title: str = "", folder: str = "") -> None:
        self.battles = Battles(queue.battles, store, reviewer)
        self._judges = Corrections(queue.judged, store, reviewer)
        self._title, self._folder = title, folder
        self._turn = threading.Lock()
        self._last: tuple[Hashable, str, bytes] = (None, "", b"")

    def state(self, mark: str = "") -> bytes | None:
        """Everything but the texts, as JSON; made again only where somebody has said something.

        Args:
            mark: that of the state which is known already; None is returned where there is no other.

        Raises:
            StoreError: the store cannot be read.
        """
        with self._turn:
            marks = self.battles.marks(), self._judges.marks()
            if marks != self._last[0]:
                name = digest(repr(marks))
                self._last = marks, name, to_json({"mark": name, **self._now()})
            return None if mark == self._last[1] else self._last[2]

    def judged(self, key: str) -> dict[str, Any]:
        """A judge's score, to be corrected.

        Raises:
            KeyError: there is none of this key. UsageError: it is withheld.
        """
        self._check(key)
        return self._judges.shown(key)

    def correct(self, key: str, score: float, comments: Iterable[EvaluationOverrideComment]) -> dict[str, Any]:
        """As `Corrections.correct`.

        Raises:
            KeyError, UsageError: as there. UsageError: it is withheld.
        """
        self._check(key)
        return self._judges.correct(key, score, comments)

    def uncorrect(self, key: str) -> dict[str, Any]:
        """As `Corrections.uncorrect`.

        Raises:
            KeyError: as there. UsageError: it is withheld.
        """
        self._check(key)
        return self._judges.uncorrect(key)

    def _check(self, key: str) -> None:
        if self.battles.waiting(self._judges.queue.rows[key].battles):
            raise UsageError("This score can be seen once you have judged the battle in which its output fights.")

    def _now(self) -> dict[str, Any]:
        battles = self.battles.rows()
        judges = self._judges.rows({row["key"] for row in battles if row["said"] is None})
        about = {"reviewer": self.battles.reviewer, "run": self._title, "folder": self._folder}
        withheld = len(self._judges.queue) - len(judges)
        told = {"battles": battles, "judges": judges, "agreement": self._judges.agreements()}
        return {**about, "withheld": withheld, **told}
