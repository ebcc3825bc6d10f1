"""Metrics that ask a model: judges of numbers, categories, conversations and behavior."""

from __future__ import annotations

import abc
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from scoregate.enums import TestType
from scoregate.errors import MetricError
from scoregate.grading.grade import (
    PASS_AT_ONE,
    Grade,
    ScoreThreshold,
    ThresholdOperator,
    make_scale,
    make_threshold,
)
from scoregate.grading.judge import ask_choice, ask_number
from scoregate.grading.prompts import (
    Template,
    describe_choices,
    describe_pair,
    describe_range,
    digest_texts,
    render_question,
)
from scoregate.grading.subject import Subject
from scoregate.kernel.types.evaluation import Scale
from scoregate.kernel.types.event_values import Choice
from scoregate.metrics.evaluation import MULTI_TURN, OfConversations, OfOutputs, check_conversation, check_scope
from scoregate.metrics.metric import Metric, ScoreType

if TYPE_CHECKING:
    from scoregate.models import Model


@dataclass(frozen=True, kw_only=True)
class Judge(Metric, abc.ABC):
    """A metric that asks a model, which gives its reason before its answer.

    Args:
        model: "provider/name", a name of OpenAI's, or a `Model`; None is the project's.
    """

    template: ClassVar[Template] = Template.METRIC

    model: str | Model | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.model is not None and not isinstance(self.model, str) and not hasattr(self.model, "a_generate"):
            raise MetricError(f"the model of {self.name!r:.60} must be a name or a Model, not {self.model!r:.60}")

    async def graded(self, subject: Subject) -> Grade:
        """Ask the model about a subject; see `Metric.graded`."""
        from scoregate.models import get_model

        self.check_subject(subject)
        question = self.prompt_for(subject)
        return await self.ask(get_model(self.model), question, subject.turns)

    def prompt_for(self, subject: Subject) -> str:
        """The rendered template; see `Metric.prompt_for`."""
        values = {"answers": self.answer_sentence(), **self.template_values()}
        return render_question(self.template, self.blocks(subject), values=values)

    @abc.abstractmethod
    async def ask(self, model: Model, prompt: str, turns: int) -> Grade:
        """Ask the question and grade the answer; `turns` is the length of a conversation, else 0."""

    @abc.abstractmethod
    def answer_sentence(self) -> str:
        """The sentence of the prompt that lists the possible answers."""

    def check_subject(self, subject: Subject) -> None:
        """Check that a subject has what this metric needs.

        Raises:
            MetricError: something is missing.
        """

    def template_values(self) -> Mapping[str, str | None]:
        """The values of the template that come from the metric's author, not from the subject."""
        return {}

    def blocks(self, subject: Subject) -> dict[str, str]:
        """The parts of a subject that the prompt shows, by name."""
        return subject.blocks()

    def model_name(self) -> str:
        """The model's name in reports.

        Raises:
            ModelError: there is no such model.
        """
        from scoregate.models.openai_model import name_of

        return name_of(self.model)

    def prompt_version(self) -> str:
        """A digest of the question without the subject."""
        values = (f"{name}={text}" for name, text in sorted(self.template_values().items()) if text)
        return digest_texts(self.template.version, self.answer_sentence(), *values)


@dataclass(frozen=True, kw_only=True)
class PromptJudge(Judge, abc.ABC):
    """Grades by a description.

    Args:
        evaluation_prompt: what is good, and what is not.
        evaluation_steps: the steps to take.
        reasoning: how to weigh the findings.
        evaluation_examples: outputs and their grades.
        requires_ground_truth: whether a test needs an expected output; conversations have none.
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

    def check_subject(self, subject: Subject) -> None:
        """Check that there is an expected output if the metric needs one; see `Judge.check_subject`."""
        is_missing = subject.conversation is None and not (subject.expected_output or "").strip()
        if self.requires_ground_truth and is_missing:
            raise MetricError(
                f"{self.name!r:.60} needs an expected_output to compare with, and this test has none",
                advice="Give the test an expected response, or the metric requires_ground_truth=False.",
            )

    def template_values(self) -> Mapping[str, str | None]:
        """The description and its parts; see `Judge.template_values`."""
        return {
            "criteria": self.evaluation_prompt,
            "steps": self.evaluation_steps,
            "reasoning": self.reasoning,
            "graded": self.evaluation_examples,
        }


@dataclass(frozen=True, kw_only=True)
class ScaledJudge(PromptJudge, abc.ABC):
    """Grades by a number.

    Args:
        min_score: the lowest score; 0 if neither end is given.
        max_score: the highest score; 1 if neither end is given.
        threshold: the score to compare with, on that scale; the middle of the scale if not given.
        threshold_operator: how to compare: `=`, `<`, `>`, `<=`, `>=` or `!=`.
    """

    min_score: float | None = None
    max_score: float | None = None
    threshold: float | None = None
    threshold_operator: ThresholdOperator | str = ThresholdOperator.GREATER_THAN_OR_EQUAL

    default_threshold: ClassVar[float] = 0.5  # as a part of the scale

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            scale = make_scale(self.min_score, self.max_score)
            middle = scale.low + self.default_threshold * (scale.high - scale.low)
            limit = make_threshold(scale, middle if self.threshold is None else self.threshold, self.threshold_operator)
        except (TypeError, ValueError) as error:
            raise MetricError(f"{self.name!r:.60}: {error}") from None
        self._set(
            min_score=scale.low, max_score=scale.high, threshold=limit.threshold, threshold_operator=limit.operator
        )

    @property
    def score_threshold(self) -> ScoreThreshold:
        """The threshold in its scale."""
        low, high, threshold = (float(x or 0) for x in (self.min_score, self.max_score, self.threshold))
        return ScoreThreshold(Scale(low, high), threshold, ThresholdOperator(self.threshold_operator))

    @property
    def higher_is_better(self) -> bool:
        """The direction of the operator."""
        return self.score_threshold.operator.upwards

    def parameters(self) -> Mapping[str, Any]:
        """The scale and the threshold; see `Metric.parameters`."""
        names = ("min_score", "max_score", "threshold", "threshold_operator")
        return {name: getattr(self, name) for name in names}

    def answer_sentence(self) -> str:
        """A number of the scale; see `Judge.answer_sentence`."""
        scale = self.score_threshold.scale
        return describe_range(scale.low, scale.high)

    async def ask(self, model: Model, prompt: str, turns: int) -> Grade:
        """Ask for a number; see `Judge.ask`."""
        limit = self.score_threshold
        low, high = limit.scale.low, limit.scale.high
        grade = await ask_number(model, prompt, low=low, high=high, turns=turns)
        score, threshold = limit.score(float(grade.value or 0))
        details = {"scale": [low, high], "passes_at": f"{limit.operator} {limit.threshold:g}", **grade.details}
        return replace(grade, score=score, threshold=threshold, details=details)


@dataclass(frozen=True, kw_only=True)
class NumericJudge(ScaledJudge, OfOutputs):
    """A model grades an output, or a conversation, by a number: `NumericJudge("Is it polite?", min_score=1, …)`."""

    kind: ClassVar[str] = "numeric"


@dataclass(frozen=True, kw_only=True)
class ConversationalJudge(ScaledJudge, OfConversations):
    """A model grades the assistant's part of a conversation by a number, and names the relevant turns."""

    kind: ClassVar[str] = "conversational"

    metric_scope: Collection[TestType | str] = MULTI_TURN

    def __post_init__(self) -> None:
        super().__post_init__()
        check_scope(self.name, self.metric_scope)

    def check_subject(self, subject: Subject) -> None:
        """Check that there is a conversation; see `Judge.check_subject`."""
        check_conversation(self.name, subject)


@dataclass(frozen=True, kw_only=True)
class CategoricalJudge(PromptJudge, OfOutputs):
    """A model puts an output, or a conversation, into a category.

    Args:
        categories: at least two names.
        passing_categories: one or several of them, which pass.
        requires_context: whether a test needs retrieved texts; conversations have none.
    """

    kind: ClassVar[str] = "categorical"

    categories: Sequence[str] = ()
    passing_categories: Sequence[str] = ()
    requires_ground_truth: bool = True
    requires_context: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(
            categories=self._parse_names("categories", least=2),
            passing_categories=self._parse_names("passing_categories", least=1),
        )
        if unknown := set(self.passing_categories) - set(self.categories):
            raise MetricError(
                f"{self.name!r:.60}: the passing_categories {sorted(unknown)!r:.100} are none of its categories,"
                f" {list(self.categories)!r:.200}"
            )

    def check_subject(self, subject: Subject) -> None:
        """Check that there is a context if the metric needs one; see `Judge.check_subject`."""
        super().check_subject(subject)
        if self.requires_context and subject.conversation is None and not subject.context:
            raise MetricError(
                f"{self.name!r:.60} needs a context, and the output of this test has none",
                advice="Let the response_mapping of the endpoint find it, or set requires_context=False.",
            )

    def _parse_names(self, field_name: str, *, least: int) -> tuple[str, ...]:
        given = getattr(self, field_name)
        names = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Iterable) else ()
        is_valid = all(isinstance(each, str) and each.strip() for each in names) and len(set(names)) == len(names)
        if not is_valid or len(names) < least:
            count = f"at least {least} different names" if least > 1 else "one or several names, each once"
            raise MetricError(f"{self.name!r:.60}: {field_name} must be {count}, not {given!r:.100}")
        return names

    @property
    def score_type(self) -> ScoreType:
        """A category."""
        return "categorical"

    def parameters(self) -> Mapping[str, Any]:
        """The categories; see `Metric.parameters`."""
        return {"categories": list(self.categories), "passing_categories": list(self.passing_categories)}

    def possible_scores(self) -> tuple[Choice, ...]:
        """All passing categories are one score, all others another; see `Metric.possible_scores`."""
        failing = [each for each in self.categories if each not in self.passing_categories]
        scores = ((1.0, self.passing_categories), (0.0, failing))
        return tuple(Choice(score, ", ".join(names)) for score, names in scores if names)

    def answer_sentence(self) -> str:
        """One of the categories; see `Judge.answer_sentence`."""
        return describe_choices(self.categories)

    async def ask(self, model: Model, prompt: str, turns: int) -> Grade:
        """Ask for a category; see `Judge.ask`."""
        grade = await ask_choice(model, prompt, self.categories, turns=turns)
        return _pass_or_fail(grade, passed=grade.value in self.passing_categories)


def _pass_or_fail(grade: Grade, *, passed: bool) -> Grade:
    return replace(grade, score=float(passed), threshold=PASS_AT_ONE)


YES, NO = "Yes", "No"


@dataclass(frozen=True, kw_only=True)
class BehaviorJudge(Judge, OfOutputs):
    """A model decides whether an output, or the assistant of a conversation, shows the behavior that its test names."""

    kind: ClassVar[str] = "behavior"

    template: ClassVar[Template] = Template.BEHAVIOR

    name: str = "behavior"

    @property
    def score_type(self) -> ScoreType:
        """Yes or no."""
        return "binary"

    def check_subject(self, subject: Subject) -> None:
        """Check that the test names a behavior; see `Judge.check_subject`."""
        if not subject.behavior.strip():
            raise MetricError(
                f"{self.name!r:.60} looks for the behavior that a test names, and this test names none",
                advice="Give the test a behavior, or judge it by metrics of your own.",
            )

    def blocks(self, subject: Subject) -> dict[str, str]:
        """The behavior and the subject; see `Judge.blocks`."""
        return {"behavior": subject.behavior, **super().blocks(subject)}

    def possible_scores(self) -> tuple[Choice, ...]:
        """Yes is 1, No is 0; see `Metric.possible_scores`."""
        return Choice(1.0, YES), Choice(0.0, NO)

    def answer_sentence(self) -> str:
        """Yes or No; see `Judge.answer_sentence`."""
        return describe_pair(YES, NO)

    async def ask(self, model: Model, prompt: str, turns: int) -> Grade:
        """Ask for Yes or No; see `Judge.ask`."""
        grade = await ask_choice(model, prompt, (YES, NO), turns=turns)
        return _pass_or_fail(grade, passed=grade.value == YES)


def behavior_judge(model: str | Model | None = None) -> BehaviorJudge:
    """The default metric: "does the answer show this behavior"; Yes passes.

    Args:
        model: "provider/name", a name of OpenAI's, or a `Model`; None is the project's.
    """
    return BehaviorJudge(model=model)
