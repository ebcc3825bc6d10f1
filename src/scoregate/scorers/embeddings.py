"""A scorer that compares the meaning of texts by their embeddings."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum, sqrt
from typing import Any

from scoregate.grading.prompts import digest_texts
from scoregate.kernel.types.evaluation import Evaluation, Threshold
from scoregate.scorers.check import Values, check_length
from scoregate.scorers.output_texts import check_field

_MOST_CHARACTERS = 200_000


@dataclass(frozen=True)
class EmbeddingSimilarity:
    """A scorer that asks a model for embeddings of the output and of the expected output.

    Attributes:
        name: the scorer's name in the record.
        model: "provider/name", or a name of OpenAI's.
        expected: what to compare with; None is the case's `expected`.
        threshold: where a score passes; None only compares.
        max_concurrency: how many requests are sent at once.
        field: the path of the text in the output; None is the output itself.
        higher_is_better: always true.
    """

    version = 1
    higher_is_better = True

    name: str
    model: str
    expected: str | None = None
    threshold: Threshold | float | None = None
    max_concurrency: int = 10
    field: str | None = None

    async def __call__(self, output: Any, expected: Any = None) -> Evaluation:
        """Ask the model, and compare the vectors.

        Args:
            output: the output of the task.
            expected: the expected output of the case.

        Returns:
            The cosine of the angle between the vectors; 0 if it is negative.

        Raises:
            ValueError: there is nothing to compare with, or a text is too long.
            ModelError: the model gives no vectors.
            MissingExtra: a package is not installed.
        """
        name = "embedding_similarity"
        values = Values(output, expected, 0.0, self.field)
        output_text, wanted = values.read_output(name), values.read_expected(self.expected, name)
        for text in (output_text, wanted):
            check_length(text, _MOST_CHARACTERS, name)
        if output_text.strip() == wanted.strip():
            return Evaluation(1.0, metadata={"reason": "the texts are the same"})
        if not output_text.strip() or not wanted.strip():
            empty = "output" if wanted.strip() else "expected output"
            return Evaluation(0.0, metadata={"reason": f"the {empty} is empty"})
        from scoregate.models.embeddings import embed_texts

        one, other = await embed_texts(self.model, [output_text, wanted])
        cosine = compute_cosine(one, other)
        # A cosine may be negative, or a rounding error over 1.
        return Evaluation(min(1.0, max(0.0, cosine)), metadata={"cosine": cosine, "model": self.model})

    def _model_and_prompt(self) -> tuple[str, str]:
        """The model and the measure, for the fingerprint."""
        from scoregate.models.openai_model import name_of

        return name_of(self.model), digest_texts("embedding_similarity", "cosine")


def embedding_similarity(
    expected: str | None = None,
    *,
    model: str = "text-embedding-3-small",
    threshold: Threshold | float | None = None,
    field: str | None = None,
    name: str | None = None,
    max_concurrency: int = 10,
) -> EmbeddingSimilarity:
    """Scores how similar the meaning of the output and of the expected output is: the cosine of their embeddings.

    Most pairs of texts have a cosine over 0, and each model has a range of its own, so measure some pairs before you
    set a threshold.

    Args:
        expected: what to compare with; default: the case's `expected`.
        model: the model for embeddings, "provider/name" or a name of OpenAI's.
        threshold: the score at or above which a case passes; default: the score is only compared.
        field: the path of the text in outputs that are objects, such as "answer" or "messages.-1.content"; "$" is their
            JSON. Default: the output is the text.
        name: the scorer's name; default: "embedding_similarity".
        max_concurrency: how many requests are sent at once.

    Raises:
        ValueError: the name of the model is empty.
    """
    if not isinstance(model, str) or not model.strip():
        raise ValueError(f"embedding_similarity needs the name of a model for embeddings, not {model!r:.60}")
    path = check_field(field, "embedding_similarity")
    return EmbeddingSimilarity(name or "embedding_similarity", model, expected, threshold, max_concurrency, path)


def compute_cosine(one: list[float], other: list[float]) -> float:
    """The cosine of the angle between two vectors; 0 if one has no length."""
    lengths = [sqrt(fsum(value * value for value in vector)) for vector in (one, other)]
    if not all(lengths):
        return 0.0
    return fsum(a * b for a, b in zip(one, other, strict=True)) / (lengths[0] * lengths[1])
