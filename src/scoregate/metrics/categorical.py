"""One of several categories for one output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from scoregate.core.parts import Choice
from scoregate.errors import MetricError
from scoregate.judging import judge
from scoregate.judging.answers import one_of
from scoregate.metrics.grade import Grade, verdict
from scoregate.metrics.metric import ScoreType
from scoregate.metrics.outputs import OfOutputs
from scoregate.metrics.prompted import PromptJudge

if TYPE_CHECKING:
    from scoregate.models import Model


@dataclass(frozen=True, kw_only=True)
class CategoricalJudge(PromptJudge, OfOutputs):
    """A model puts an output, or a conversation, into a category.

    Args:
        categories: at least two. passing_categories: those that pass, one or several of them.
    """

    kind: ClassVar[str] = "categorical"

    categories: Sequence[str] = ()
    passing_categories: Sequence[str] = ()
    requires_ground_truth: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(
            categories=self._read("categories", least=2), passing_categories=self._read("passing_categories", least=1)
        )
        if strange := set(self.passing_categories) - set(self.categories):
            raise MetricError(
                f"{self.name!r:.60}: the passing_categories {sorted(strange)!r:.100} are none of its categories,"
                f" {list(self.categories)!r:.200}"
            )

    def _read(self, name: str, *, least: int) -> tuple[str, ...]:
        given = getattr(self, name)
        listed = (given,) if isinstance(given, str) else tuple(given)
        sound = all(isinstance(each, str) and each.strip() for each in listed) and len(set(listed)) == len(listed)
        if not sound or len(listed) < least:
            count = f"at least {least} different names" if least > 1 else "one or several names, each once"
            raise MetricError(f"{self.name!r:.60}: {name} must be {count}, not {given!r:.100}")
        return listed

    @property
    def score_type(self) -> ScoreType:
        """As `Metric.score_type`."""
        return "categorical"

    def parameters(self) -> Mapping[str, Any]:
        """As `Metric.parameters`."""
        return {"categories": list(self.categories), "passing_categories": list(self.passing_categories)}

    def possible_scores(self) -> tuple[Choice, ...]:
        """As `Metric.possible_scores`: all that passes is one score, all else another."""
        failing = [each for each in self.categories if each not in self.passing_categories]
        named = ((1.0, self.passing_categories), (0.0, failing))
        return tuple(Choice(score, ", ".join(names)) for score, names in named if names)

    def answers(self) -> str:
        """As `Judge.answers`."""
        return one_of(self.categories)

    async def asked(self, model: Model, prompt: str, turns: int) -> Grade:
        """As `Judge.asked`."""
        told = await judge(model, prompt, self.categories, turns=turns)
        passed = told.choice in self.passing_categories
        named = {"relevant_turns": list(told.turns)} if turns else {}
        return verdict(told.choice, passed=passed, reason=told.reason, prompt=prompt, more=named)
