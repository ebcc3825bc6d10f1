"""Scorers that ask a model: yes or no, or one of several choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scoregate.grading.grade import PASS_AT_ONE
from scoregate.grading.judge import ask_choice, get_scorer_model, name_scorer_model
from scoregate.grading.prompts import Template, describe_choices, describe_pair, digest_texts, render_question
from scoregate.kernel.types.evaluation import Evaluation, Threshold, require_number
from scoregate.kernel.types.event_values import Choice
from scoregate.kernel.types.json_io import to_text
from scoregate.scorers.check import NO_TRAJECTORY, require_all_steps
from scoregate.scorers.output_texts import check_field, read_output

if TYPE_CHECKING:
    from scoregate.kernel.types.trajectories.trajectory import Trajectory
    from scoregate.models import Model

_YES, _NO = "Yes", "No"
_YES_OR_NO = {_YES: 1.0, _NO: 0.0}
_LONGEST_NAME = 80


@dataclass(frozen=True)
class ModelJudge:
    """A scorer that asks a model. It sees the case's input and expected output, and the output.

    Attributes:
        name: the scorer's name in the record.
        question: the question, or criteria.
        choices: the possible answers with their scores, from 0 to 1.
        model: "provider/name", a name of OpenAI's, or a `Model`; None is the project's.
        threshold: where a score passes; None only compares.
        max_concurrency: how many questions are asked at once.
        field: the path of what the model sees of the output; None is all of it.
        higher_is_better: always true.
    """

    version = 1
    higher_is_better = True

    name: str
    question: str
    choices: Mapping[str, float]
    model: str | Model | None = None
    threshold: Threshold | float | None = None
    max_concurrency: int = 10
    field: str | None = None

    async def __call__(self, output: Any, input: Any = None, expected: Any = None) -> Evaluation:  # noqa: A002
        """Ask the model.

        Args:
            output: the output to judge.
            input: the input that it answers.
            expected: the expected output.

        Raises:
            ValueError: the output is not a text, an image or a recording, and there is no `field`.
            ModelError: the model gives no answer.
            MissingExtra: a package is not installed.
        """
        return await self._ask(read_output(output, self.field, "judge", media=True), input, expected)

    async def _ask(self, shown_output: str, input: Any, expected: Any) -> Evaluation:  # noqa: A002
        blocks = {"input": input, "expected output": expected}
        shown = {name: to_text(value) for name, value in blocks.items() if value is not None}
        prompt = render_question(Template.METRIC, {**shown, "output": shown_output}, values=self._values())
        grade = await ask_choice(get_scorer_model(self.model), prompt, list(self.choices))
        metadata = {"reason": grade.reason, "answer": grade.value, "prompt": grade.prompt}
        return Evaluation(self.choices[str(grade.value)], metadata=metadata)

    def _values(self) -> dict[str, str | None]:
        answers = (
            describe_pair(_YES, _NO) if list(self.choices) == [_YES, _NO] else describe_choices(list(self.choices))
        )
        return {"criteria": self.question, "answers": answers, "steps": None, "reasoning": None, "graded": None}

    def _list_choices(self) -> Sequence[Choice]:
        return [Choice(score, name) for name, score in self.choices.items()]

    def _model_and_prompt(self) -> tuple[str, str]:
        """The model and a digest of the question without the case, for the fingerprint."""
        values = self._values()
        return name_scorer_model(self.model), digest_texts(
            Template.METRIC.version, self.question, str(values["answers"])
        )


def judge(
    question: str,
    *,
    model: str | Model | None = None,
    field: str | None = None,
    name: str | None = None,
    max_concurrency: int = 10,
) -> ModelJudge:
    """Asks a model a question about the output; Yes passes, No fails.

    Args:
        question: a question that is answered by Yes if the output is good, or criteria that it must meet.
        model: "provider/name", a name of OpenAI's, or a `Model`; default: the project's model.
        field: the path of the text in outputs that are objects, such as "answer" or "messages.-1.content"; "$" is their
            JSON. Default: the output is the text.
        name: the scorer's name; default: the start of the question.
        max_concurrency: how many questions are asked at once.

    Raises:
        ValueError: the question is empty.
    """
    _check_question(question)
    path = check_field(field, "judge")
    return ModelJudge(name or _make_name(question), question, _YES_OR_NO, model, PASS_AT_ONE, max_concurrency, path)


def choice_judge(
    question: str,
    choices: Mapping[str, float],
    *,
    threshold: Threshold | float | None = None,
    model: str | Model | None = None,
    field: str | None = None,
    name: str | None = None,
    max_concurrency: int = 10,
) -> ModelJudge:
    """Asks a model to choose one of several answers.

    Args:
        question: the question, or criteria.
        choices: the answers and their scores, from 0 to 1: `{"right": 1, "in part": 0.5, "wrong": 0}`.
        threshold: the score at or above which a case passes; default: the score is only compared.
        model: "provider/name", a name of OpenAI's, or a `Model`; default: the project's model.
        field: the path of the text in outputs that are objects, such as "answer" or "messages.-1.content"; "$" is their
            JSON. Default: the output is the text.
        name: the scorer's name; default: the start of the question.
        max_concurrency: how many questions are asked at once.

    Raises:
        ValueError: the question is empty, there are fewer than two choices, or a score is not from 0 to 1.
    """
    _check_question(question)
    items = choices.items() if isinstance(choices, Mapping) else ()
    scores = {str(answer): require_number(score, f"the score of {answer!r:.60}") for answer, score in items}
    if len(scores) < 2 or not all(0 <= score <= 1 for score in scores.values()):
        raise ValueError(f"choices must be at least two answers with scores from 0 to 1, not {choices!r:.100}")
    path = check_field(field, "choice_judge")
    return ModelJudge(name or _make_name(question), question, scores, model, threshold, max_concurrency, path)


@dataclass(frozen=True)
class TrajectoryJudge(ModelJudge):
    """A scorer that asks a model about the trajectory. It sees the case's input and expected output, too."""

    async def __call__(  # type: ignore[override]
        self,
        trajectory: Trajectory | None,
        output: Any = None,
        input: Any = None,  # noqa: A002
        expected: Any = None,
    ) -> Evaluation:
        """Ask the model.

        Args:
            trajectory: what the agent did.
            output: its output.
            input: the input of the case.
            expected: the expected output.

        Raises:
            ValueError: there is no trajectory, or steps may be missing in it.
            ModelError: the model gives no answer.
            MissingExtra: a package is not installed.
        """
        if trajectory is None:
            raise ValueError(NO_TRAJECTORY.format(name=self.name))
        require_all_steps(trajectory, self.name, "steps")
        shown = to_text(output) if self.field is None else read_output(output, self.field, self.name, media=True)
        return await self._ask(f"{trajectory.text()}\nThe output: {shown}", input, expected)


def goal_reached(
    goal: str | None = None,
    *,
    model: str | Model | None = None,
    field: str | None = None,
    name: str | None = None,
    max_concurrency: int = 10,
) -> TrajectoryJudge:
    """Asks a model whether the agent reached the goal, by its steps and its output; Yes passes, No fails.

    Args:
        goal: the goal of all cases; default: what the case's input asks for, and its `expected` if there is one.
        model: "provider/name", a name of OpenAI's, or a `Model`; default: the project's model.
        field: the path of what the model sees of outputs that are objects, such as "answer"; default: all.
        name: the scorer's name; default: "goal_reached".
        max_concurrency: how many questions are asked at once.
    """
    wanted = "what the input asks for" if goal is None else f"this goal: {goal}"
    question = (
        f"The output lists the steps of an agent. Yes: the results of its steps show that it reached {wanted}. "
        "A claim of the agent that no step supports is no evidence."
    )
    path = check_field(field, "goal_reached")
    return TrajectoryJudge(name or "goal_reached", question, _YES_OR_NO, model, PASS_AT_ONE, max_concurrency, path)


def plan_followed(
    plan: str,
    *,
    model: str | Model | None = None,
    field: str | None = None,
    name: str | None = None,
    max_concurrency: int = 10,
) -> TrajectoryJudge:
    """Asks a model whether the agent followed a plan; Yes passes, No fails.

    Args:
        plan: the steps that the agent must take, in order.
        model: "provider/name", a name of OpenAI's, or a `Model`; default: the project's model.
        field: the path of what the model sees of outputs that are objects, such as "answer"; default: all.
        name: the scorer's name; default: "plan_followed".
        max_concurrency: how many questions are asked at once.

    Raises:
        ValueError: the plan is empty.
    """
    _check_question(plan)
    question = (
        "The output lists the steps of an agent. Yes: it took each step of this plan, in this order, and nothing "
        f"that the plan excludes. The plan: {plan}"
    )
    path = check_field(field, "plan_followed")
    return TrajectoryJudge(name or "plan_followed", question, _YES_OR_NO, model, PASS_AT_ONE, max_concurrency, path)


def _check_question(question: str) -> None:
    if not isinstance(question, str) or not question.strip():
        raise ValueError(f"a judge needs a question, not {question!r:.60}")


def _make_name(question: str) -> str:
    return " ".join(question.split())[:_LONGEST_NAME]
