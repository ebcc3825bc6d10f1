"""Scorers that ask a model about each passage: whether it is useful, and whether a citation of it is right."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import TYPE_CHECKING, Any

from scoregate.grading.prompts import Template
from scoregate.kernel.types.evaluation import Evaluation, Threshold
from scoregate.kernel.types.json_io import to_text
from scoregate.scorers.check import check_length
from scoregate.scorers.citations import Citation, find_citations
from scoregate.scorers.claim_judges import RetrievalJudge, describe_verdicts, share_verdicts
from scoregate.scorers.passages import ANSWER, CONTEXTS, make_fields
from scoregate.scorers.verdicts import Answers, Verdict, ask_about_items

if TYPE_CHECKING:
    from scoregate.models import Model

_LONGEST = 200_000
_USEFUL = (
    "is it useful for answering the input as the expected output does? A passage is useful if a part of the expected "
    "output rests on what it says. That it has the same topic is not enough."
)
_CITED = (
    "does the passage support the sentence that cites it? It does if it says what the sentence says, or the part of "
    "the sentence that needs a source; and it does not if it only has the same topic."
)


class ContextPrecision(RetrievalJudge):
    """Whether useful passages are ranked before others: the average precision of the ranking."""

    _template = Template.PASSAGES
    _criterion = _USEFUL

    async def __call__(self, output: Any, input: Any = None, expected: Any = None) -> Evaluation | None:  # noqa: A002
        """Ask the model, as `RetrievalJudge` says."""
        reference = self.fields.read_reference(expected, self.name)
        passages = self.fields.read_passages(output, self.name)
        if not passages:
            return Evaluation(0.0, None, {"reason": "no passage was retrieved"})
        blocks = {"input": to_text(input), "expected output": reference}
        texts = [passage.text for passage in passages]
        answers = await ask_about_items(self.get_model(), "passage", self._criterion, blocks, texts)
        useful = [rank for rank, each in enumerate(answers.verdicts, 1) if each.holds]
        score = fsum(found / rank for found, rank in enumerate(useful, 1)) / len(useful) if useful else 0.0
        return Evaluation(score, None, describe_verdicts(answers, "not useful"))


class CitationCorrect(RetrievalJudge):
    """The share of the citations whose passage supports the sentence; 0 for an answer without one."""

    _template = Template.PASSAGES
    _criterion = _CITED

    async def __call__(self, output: Any, input: Any = None, expected: Any = None) -> Evaluation | None:  # noqa: A002, ARG002
        """Ask the model, as `RetrievalJudge` says."""
        answer, passages = self.fields.read_answer(output, self.name), self.fields.read_passages(output, self.name)
        check_length(answer, _LONGEST, self.name)
        citations = find_citations(answer, passages)
        if not citations:
            return Evaluation(0.0, None, {"reason": "the answer cites no passage"})
        known = [each for each in citations if each.text is not None]
        unknown = [
            Verdict(_describe(each), False, "there is no such passage") for each in citations if each.text is None
        ]
        answers = await self._ask(known) if known else Answers((), "")
        return share_verdicts(Answers([*answers.verdicts, *unknown], answers.prompt), "not supported by what they cite")

    async def _ask(self, citations: Sequence[Citation]) -> Answers:
        texts = list(dict.fromkeys(each.text or "" for each in citations))
        # Sentences and passages are blocks of their own, so that an answer can't write the passage that it cites.
        named = "; ".join(
            f"citation {at} names passage {texts.index(each.text or '') + 1}" for at, each in enumerate(citations, 1)
        )
        blocks = {f"passage {number}": text for number, text in enumerate(texts, 1)}
        sentences = [each.sentence for each in citations]
        answers = await ask_about_items(
            self.get_model(), "citation", f"{self._criterion} Here {named}.", blocks, sentences
        )
        verdicts = zip(citations, answers.verdicts, strict=True)
        return Answers([each._replace(text=_describe(citation)) for citation, each in verdicts], answers.prompt)


def _describe(citation: Citation) -> str:
    return f"[{citation.mark}] {citation.sentence}"


def context_precision(
    *,
    model: str | Model | None = None,
    field: str = ANSWER,
    contexts: str = CONTEXTS,
    threshold: Threshold | float | None = None,
    name: str | None = None,
    max_concurrency: int = 10,
) -> ContextPrecision:
    """Scores whether useful passages are ranked before others, by the verdict of a model on each passage.

    It is the average precision: the mean of the shares of useful passages up to each useful one. Whether a passage is
    useful is decided by the expected answer. Without a useful passage it is 0.

    Args:
        model: "provider/name", a name of OpenAI's, or a `Model`; default: the project's model.
        field: the path of the answer in outputs, and in `expected` if it is an object.
        contexts: the path of the list of passages in outputs; each is a text, or an object with a "text" and an "id".
        threshold: the score at or above which a case passes; default: the score is only compared.
        name: the scorer's name; default: "context_precision".
        max_concurrency: how many questions are asked at once.

    Raises:
        TypeError: a path is no text, or empty.
    """
    return ContextPrecision(
        name or "context_precision",
        make_fields("context_precision", field, contexts),
        model,
        threshold,
        max_concurrency=max_concurrency,
    )


def citation_correct(
    *,
    model: str | Model | None = None,
    field: str = ANSWER,
    contexts: str = CONTEXTS,
    threshold: Threshold | float | None = None,
    name: str | None = None,
    max_concurrency: int = 10,
) -> CitationCorrect:
    """Scores which share of the citations support the sentence that has them, by the verdict of a model.

    `[2]` cites the second passage and `[faq-7]` the passage with this id. A citation of a passage that is not there is
    wrong, and an answer without citations has the score 0. Sentences without a citation don't count, nor do code and
    lists of sources.

    Args:
        model: "provider/name", a name of OpenAI's, or a `Model`; default: the project's model.
        field: the path of the answer in outputs.
        contexts: the path of the list of passages in outputs; each is a text, or an object with a "text" and an "id".
        threshold: the score at or above which a case passes; default: the score is only compared.
        name: the scorer's name; default: "citation_correct".
        max_concurrency: how many questions are asked at once.

    Raises:
        TypeError: a path is no text, or empty.
    """
    return CitationCorrect(
        name or "citation_correct",
        make_fields("citation_correct", field, contexts),
        model,
        threshold,
        max_concurrency=max_concurrency,
    )
