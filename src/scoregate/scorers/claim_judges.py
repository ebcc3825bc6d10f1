"""Scorers that ask a model about the claims of an answer. Each asks one question for each trial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from scoregate.grading.grade import PASS_AT_ONE
from scoregate.grading.judge import get_scorer_model, name_scorer_model
from scoregate.grading.prompts import Template, digest_texts
from scoregate.kernel.types.evaluation import Evaluation, Threshold
from scoregate.kernel.types.event_values import Choice
from scoregate.kernel.types.json_io import to_text
from scoregate.scorers.passages import ANSWER, CONTEXTS, DEFAULT_FIELDS, Fields, Passage, make_fields
from scoregate.scorers.verdicts import Answers, ask_about_claims

if TYPE_CHECKING:
    from scoregate.models import Model

_MOST_NAMED, _LONGEST_NAMED = 3, 160
_SUPPORTED = (
    "supported by the context? A claim is supported if the context says it, or if it follows from what the context "
    "says. What you know besides does not count."
)
_RELEVANT = (
    "relevant to the input? A claim is relevant if it answers the input, or a part of it, or explains such an answer. "
    "The statement that the answer is not known, and a refusal to answer, are not relevant."
)


@dataclass(frozen=True)
class RetrievalJudge:
    """A scorer that asks a model about the answer and the passages of an output.

    Attributes:
        name: the scorer's name in the record.
        fields: where the output has its answer and its passages.
        model: "provider/name", a name of OpenAI's, or a `Model`; None is the project's.
        threshold: where a score passes; None only compares.
        max_concurrency: how many questions are asked at once.
        higher_is_better: always true.
    """

    version = 1
    higher_is_better = True
    _template: ClassVar[Template] = Template.CLAIMS
    _criterion: ClassVar[str] = _SUPPORTED

    name: str
    fields: Fields = DEFAULT_FIELDS
    model: str | Model | None = None
    threshold: Threshold | float | None = None
    max_concurrency: int = 10

    async def __call__(self, output: Any, input: Any = None, expected: Any = None) -> Evaluation | None:  # noqa: A002
        """Ask the model.

        Args:
            output: an object with the answer and the passages.
            input: the question that the answer answers.
            expected: the expected answer, or an object that has it.

        Returns:
            The score; None if there is nothing to score, such as an answer without a claim.

        Raises:
            ValueError: the answer, the passages, or what they are compared with is missing.
            ModelError: the model gives no answer.
            MissingExtra: a package is not installed.
        """
        raise NotImplementedError

    def get_model(self) -> Model:
        """The model that it asks."""
        return get_scorer_model(self.model)

    def _model_and_prompt(self) -> tuple[str, str]:
        """The model and a digest of the question without the case, for the fingerprint."""
        return name_scorer_model(self.model), digest_texts(self._template.version, self._criterion)


class Faithfulness(RetrievalJudge):
    """The share of the answer's claims that the passages support."""

    async def __call__(self, output: Any, input: Any = None, expected: Any = None) -> Evaluation | None:  # noqa: A002, ARG002
        """Ask the model, as `RetrievalJudge` says."""
        answers = await self._ask(output, input)
        return share_verdicts(answers, "not supported") if answers.verdicts else None

    async def _ask(self, output: Any, question: Any) -> Answers:
        answer, passages = self.fields.read_answer(output, self.name), self.fields.read_passages(output, self.name)
        blocks = {"input": to_text(question), "context": _join(passages), "output": answer}
        return await ask_about_claims(self.get_model(), "the output", self._criterion, blocks)


class HallucinationFree(Faithfulness):
    """Whether the passages support every claim of the answer."""

    def _list_choices(self) -> Sequence[Choice]:
        return [Choice(1.0, "every claim is supported"), Choice(0.0, "a claim is not supported")]

    async def __call__(self, output: Any, input: Any = None, expected: Any = None) -> Evaluation | None:  # noqa: A002, ARG002
        """Ask the model, as `RetrievalJudge` says."""
        answers = await self._ask(output, input)
        if not answers.verdicts:
            return None
        is_free = all(each.holds for each in answers.verdicts)
        return Evaluation(float(is_free), PASS_AT_ONE, describe_verdicts(answers, "not supported"))


class AnswerRelevancy(RetrievalJudge):
    """The share of the answer's claims that are relevant to the input; 0 for an answer without a claim."""

    _criterion = _RELEVANT

    async def __call__(self, output: Any, input: Any = None, expected: Any = None) -> Evaluation | None:  # noqa: A002, ARG002
        """Ask the model, as `RetrievalJudge` says."""
        blocks = {"input": to_text(input), "output": self.fields.read_answer(output, self.name)}
        answers = await ask_about_claims(self.get_model(), "the output", self._criterion, blocks)
        if not answers.verdicts:
            return Evaluation(0.0, None, {"reason": "the answer makes no claim", "prompt": answers.prompt})
        return share_verdicts(answers, "not relevant")


class ContextRecall(RetrievalJudge):
    """The share of the expected answer's claims that the passages support."""

    async def __call__(self, output: Any, input: Any = None, expected: Any = None) -> Evaluation | None:  # noqa: A002
        """Ask the model, as `RetrievalJudge` says."""
        reference = self.fields.read_reference(expected, self.name)
        context = _join(self.fields.read_passages(output, self.name))
        blocks = {"input": to_text(input), "context": context, "expected output": reference}
        answers = await ask_about_claims(self.get_model(), "the expected output", self._criterion, blocks)
        return share_verdicts(answers, "not retrieved") if answers.verdicts else None


def _join(passages: Sequence[Passage]) -> str:
    """All passages as one text. Without any, no claim is supported."""
    return "\n\n".join(f"{number}. {passage.text}" for number, passage in enumerate(passages, 1))


def share_verdicts(answers: Answers, problem: str) -> Evaluation:
    """The share of the verdicts that hold, with the problem of those that don't. There must be one."""
    share = sum(each.holds for each in answers.verdicts) / len(answers.verdicts)
    return Evaluation(share, None, describe_verdicts(answers, problem))


def describe_verdicts(answers: Answers, problem: str) -> dict[str, Any]:
    """What the record keeps: the first claims or items that lost points, all verdicts, and the question."""
    bad = [each for each in answers.verdicts if not each.holds]
    named = "; ".join(f"{each.text[:_LONGEST_NAMED]} ({each.reason[:_LONGEST_NAMED]})" for each in bad[:_MOST_NAMED])
    reason = {"reason": f"{len(bad)} of {len(answers.verdicts)} {problem}: {named}"} if bad else {}
    verdicts = [{"text": each.text, "answer": each.holds, "reason": each.reason} for each in answers.verdicts]
    return {**reason, "verdicts": verdicts, "prompt": answers.prompt}


def faithfulness(
    *,
    model: str | Model | None = None,
    field: str = ANSWER,
    contexts: str = CONTEXTS,
    threshold: Threshold | float | None = None,
    name: str | None = None,
    max_concurrency: int = 10,
) -> Faithfulness:
    """Scores which share of the answer's claims the passages support, by the verdict of a model.

    The output is an object with the answer and the passages: `{"answer": "…", "contexts": ["…"]}`. An answer that makes
    no claim, such as a refusal, has no score. The measure is that of Es et al., RAGAS (EACL 2024), in one question.

    Args:
        model: "provider/name", a name of OpenAI's, or a `Model`; default: the project's model.
        field: the path of the answer in outputs.
        contexts: the path of the list of passages in outputs; each is a text, or an object with a "text" and an "id".
        threshold: the score at or above which a case passes; default: the score is only compared.
        name: the scorer's name; default: "faithfulness".
        max_concurrency: how many questions are asked at once.

    Raises:
        TypeError: a path is no text, or empty.
    """
    return Faithfulness(
        name or "faithfulness",
        make_fields("faithfulness", field, contexts),
        model,
        threshold,
        max_concurrency=max_concurrency,
    )


def hallucination_free(
    *,
    model: str | Model | None = None,
    field: str = ANSWER,
    contexts: str = CONTEXTS,
    name: str | None = None,
    max_concurrency: int = 10,
) -> HallucinationFree:
    """Passes if the passages support every claim of the answer, by the verdict of a model.

    It asks the same question as `faithfulness`. An answer that makes no claim has no score.

    Args:
        model: "provider/name", a name of OpenAI's, or a `Model`; default: the project's model.
        field: the path of the answer in outputs.
        contexts: the path of the list of passages in outputs; each is a text, or an object with a "text" and an "id".
        name: the scorer's name; default: "hallucination_free".
        max_concurrency: how many questions are asked at once.

    Raises:
        TypeError: a path is no text, or empty.
    """
    return HallucinationFree(
        name or "hallucination_free",
        make_fields("hallucination_free", field, contexts),
        model,
        max_concurrency=max_concurrency,
    )


def answer_relevancy(
    *,
    model: str | Model | None = None,
    field: str = ANSWER,
    threshold: Threshold | float | None = None,
    name: str | None = None,
    max_concurrency: int = 10,
) -> AnswerRelevancy:
    """Scores which share of the answer's claims is relevant to the input, by the verdict of a model.

    A refusal, and an answer that makes no claim, have the score 0. `expected` and the passages are not read.

    Args:
        model: "provider/name", a name of OpenAI's, or a `Model`; default: the project's model.
        field: the path of the answer in outputs.
        threshold: the score at or above which a case passes; default: the score is only compared.
        name: the scorer's name; default: "answer_relevancy".
        max_concurrency: how many questions are asked at once.

    Raises:
        TypeError: a path is no text, or empty.
    """
    return AnswerRelevancy(
        name or "answer_relevancy",
        make_fields("answer_relevancy", field, CONTEXTS),
        model,
        threshold,
        max_concurrency=max_concurrency,
    )


def context_recall(
    *,
    model: str | Model | None = None,
    field: str = ANSWER,
    contexts: str = CONTEXTS,
    threshold: Threshold | float | None = None,
    name: str | None = None,
    max_concurrency: int = 10,
) -> ContextRecall:
    """Scores which share of the expected answer's claims the passages support, by the verdict of a model.

    It is what retrieval could have contributed, whatever the answer says. An expected answer without a claim has no
    score.

    Args:
        model: "provider/name", a name of OpenAI's, or a `Model`; default: the project's model.
        field: the path of the answer in outputs, and in `expected` if it is an object.
        contexts: the path of the list of passages in outputs; each is a text, or an object with a "text" and an "id".
        threshold: the score at or above which a case passes; default: the score is only compared.
        name: the scorer's name; default: "context_recall".
        max_concurrency: how many questions are asked at once.

    Raises:
        TypeError: a path is no text, or empty.
    """
    return ContextRecall(
        name or "context_recall",
        make_fields("context_recall", field, contexts),
        model,
        threshold,
        max_concurrency=max_concurrency,
    )
