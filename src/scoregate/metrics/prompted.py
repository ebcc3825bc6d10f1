"""Judges with a prompt of one's own: what the author of a metric tells the model."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from dataclasses import dataclass, field

from scoregate.errors import MetricError
from scoregate.metrics.judge import Judge
from scoregate.metrics.subject import Subject


@dataclass(frozen=True, kw_only=True)
class PromptJudge(Judge, abc.ABC):
    """Grades by a description.

    Args:
        evaluation_prompt: what is good, and what is not. evaluation_steps: how to find out.
        reasoning: how to weigh what is found. evaluation_examples: outputs and their grades.
        requires_ground_truth: whether a test must say what it expects; conversations have nothing that would.
    """

    evaluation_prompt: str = field(default="", kw_only=False)
    evaluation_steps: str | None = None
    reasoning: str | None = None
    evaluation_examples: str | None = None
    requires_ground_truth: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("evaluation_prompt", "evaluation_steps", "reasoning", "evaluation_examples"):
            if not isinstance(getattr(self, name), str | None):
                raise MetricError(f"{name} of {self.name!r:.60} must be a string, not {getattr(self, name)!r:.60}")
        if self._needs_prompt and not (self.evaluation_prompt or "").strip():
            raise MetricError(f"{self.name!r:.60} needs an evaluation_prompt: what is good, and what is not")

    @property
    def _needs_prompt(self) -> bool:
        return True

    def check(self, subject: Subject) -> None:
        """As `Judge.check`."""
        lacking = subject.conversation is None and not (subject.expected_output or "").strip()
        if self.requires_ground_truth and lacking:
            raise MetricError(
                f"{self.name!r:.60} needs an expected_output to compare with, and this test has none",
                advice="Give the test an expected response, or the metric requires_ground_truth=False.",
            )

    def words(self) -> Mapping[str, str | None]:
        """As `Judge.words`."""
        beside = {"steps": self.evaluation_steps, "reasoning": self.reasoning, "graded": self.evaluation_examples}
        return {"criteria": self.evaluation_prompt, **beside}
