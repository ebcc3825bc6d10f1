"""One version of a judge: what a test pins, and what scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from scoregate.judges.code import Judge
from scoregate.judges.settling import Settled
from scoregate.judging import placeholders
from scoregate.store.judges import Category, Grading, Number, ScoreType

PROD, LATEST = "prod", "latest"


@dataclass(frozen=True, slots=True)
class JudgeVersion:
    """A version of a judge, or a code judge that is in no store.

    `number` is None where it has no versions. `grading` is what its scores depend on; `tags` are those on this version;
    `code` is the judge itself where it is code that was loaded.
    """

    id: str
    name: str
    number: Number | None
    grading: Grading
    description: str = ""
    tags: tuple[str, ...] = ()
    created_at: datetime | None = None
    code: Judge[Any] | None = None

    @property
    def version(self) -> str:
        """As in "1.2"; empty where it has none."""
        return "" if self.number is None else str(self.number)

    @property
    def label(self) -> str:
        """Its name and its version."""
        return f"{self.name} {self.version}".rstrip()

    @property
    def judge_type(self) -> str:
        """Prompt or code."""
        return self.grading.kind

    @property
    def score_type(self) -> ScoreType:
        """Binary, categorical or numeric."""
        return self.grading.score_type

    @property
    def prompt(self) -> str | None:
        """What a prompt judge asks, with its placeholders."""
        return self.grading.prompt

    @property
    def model(self) -> str | None:
        """Who is asked; None is the project's model."""
        return self.grading.model

    @property
    def categories(self) -> tuple[Category, ...]:
        """The answers of a categorical judge."""
        return self.grading.categories

    @property
    def scale(self) -> tuple[float, float]:
        """The bounds of its scores in its own scale."""
        low, high = self.grading.min_score, self.grading.max_score
        return (0.0 if low is None else low, 1.0 if high is None else high)

    @property
    def placeholders(self) -> tuple[str, ...]:
        """What its prompt asks for by name."""
        return placeholders(self.grading.prompt or "")


def versions_of(found: Settled) -> Iterator[JudgeVersion]:
    """All versions of a judge, the newest first."""
    judge = found.judge
    for stored in reversed(found.versions):
        tags = tuple(sorted(tag for tag, version in judge.tags.items() if version == stored.version))
        yield JudgeVersion(
            judge.id, judge.name, stored.number, stored, judge.description, tags=tags, created_at=stored.created_at
        )
