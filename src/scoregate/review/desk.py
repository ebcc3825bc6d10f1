"""What a reviewer sees and says: what there is to judge in a run beside the words of all people in the store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scoregate.review.corrections import Corrections
from scoregate.review.queue import Queue
from scoregate.review.verdicts import Battles
from scoregate.store import Store


@dataclass(frozen=True, slots=True)
class Desk:
    """One reviewer's place at a run, which is called `title`."""

    battles: Battles
    judges: Corrections
    title: str = ""

    def state(self) -> dict[str, Any]:
        """Everything but the texts.

        Raises:
            StoreError: the store cannot be read.
        """
        battles = self.battles.rows()
        judges = self.judges.rows({row["key"] for row in battles if row["said"] is None})
        about = {"reviewer": self.battles.reviewer, "run": self.title, "withheld": len(self.judges.queue) - len(judges)}
        return {**about, "battles": battles, "judges": judges, "agreement": self.judges.agreements()}


def desk_of(queue: Queue, store: Store, reviewer: str, *, title: str = "") -> Desk:
    """The place of a reviewer of this name."""
    return Desk(Battles(queue.battles, store, reviewer), Corrections(queue.judged, store, reviewer), title)
