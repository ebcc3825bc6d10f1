"""The metrics of ragas as evaluators."""

from __future__ import annotations

import abc
from typing import Any, Generic

from scoregate.testing.evaluators.ragas.base import (
    MapsAllButResponse,
    MapsReference,
    MapsReferenceContexts,
    MapsResponse,
    MapsRetrievedContexts,
    MapsUserInput,
    RagasEvaluator,
)
from scoregate.testing.evaluators.ragas.installation import metric_class
from scoregate.testing.models import OutputType, TestCaseType


class BaseRagasContextEntitiesRecall(
    MapsReference[TestCaseType],
    MapsRetrievedContexts[TestCaseType, OutputType],
    RagasEvaluator[TestCaseType, OutputType],
    abc.ABC,
    Generic[TestCaseType, OutputType],
):
    """The part of the reference's entities that the retrieved contexts have, in [0, 1]."""

    metric = ("_context_entities_recall", "ContextEntityRecall")
    needs = ("llm",)
    llm: Any = None


class BaseRagasFactualCorrectness(
    MapsResponse[OutputType],
    MapsReference[TestCaseType],
    RagasEvaluator[TestCaseType, OutputType],
    abc.ABC,
    Generic[TestCaseType, OutputType],
):
    """Precision, recall or F1 of the response's claims, in [0, 1].

    `mode` is "precision", "recall" or "f1"; `atomicity`, how finely claims are cut, is "low" or "high". Unset ones
    are ragas' own.
    """

    metric = ("_factual_correctness", "FactualCorrectness")
    needs = ("llm",)
    llm: Any = None
    mode: str | None = None
    atomicity: str | None = None

    def options(self) -> dict[str, Any]:
        """What is set of the mode and the atomicity."""
        return self._choice("mode", ("precision", "recall", "f1")) | self._choice("atomicity", ("low", "high"))


class BaseRagasFaithfulness(
    MapsUserInput[TestCaseType, OutputType],
    MapsResponse[OutputType],
    MapsRetrievedContexts[TestCaseType, OutputType],
    RagasEvaluator[TestCaseType, OutputType],
    abc.ABC,
    Generic[TestCaseType, OutputType],
):
    """The part of the response's statements that the retrieved contexts support, in [0, 1].

    `focus` may be set, as in the SDK that this one is shaped after; no version of ragas has it here, so it changes
    nothing.
    """

    metric = ("_faithfulness", "Faithfulness")
    needs = ("llm",)
    llm: Any = None
    focus: str | None = None


class BaseRagasLLMContextPrecisionWithReference(
    MapsAllButResponse[TestCaseType, OutputType],
    RagasEvaluator[TestCaseType, OutputType],
    abc.ABC,
    Generic[TestCaseType, OutputType],
):
    """The mean precision of the retrieved contexts, in [0, 1]; a model says which are relevant."""

    metric = ("_context_precision", "LLMContextPrecisionWithReference")
    needs = ("llm",)
    llm: Any = None


class BaseRagasLLMContextRecall(
    MapsAllButResponse[TestCaseType, OutputType],
    RagasEvaluator[TestCaseType, OutputType],
    abc.ABC,
    Generic[TestCaseType, OutputType],
):
    """The part of the reference's statements that the retrieved contexts support, in [0, 1]."""

    metric = ("_context_recall", "LLMContextRecall")
    needs = ("llm",)
    llm: Any = None


class BaseRagasNoiseSensitivity(
    MapsUserInput[TestCaseType, OutputType],
    MapsResponse[OutputType],
    MapsReference[TestCaseType],
    MapsRetrievedContexts[TestCaseType, OutputType],
    RagasEvaluator[TestCaseType, OutputType],
    abc.ABC,
    Generic[TestCaseType, OutputType],
):
    """The part of the response's statements that are wrong and in a retrieved context, in [0, 1]; 0 is best.

    `focus` is on "relevant" or "irrelevant" contexts; unset, it is ragas' own.
    """

    metric = ("_noise_sensitivity", "NoiseSensitivity")
    higher_is_better = False
    needs = ("llm",)
    llm: Any = None
    focus: str | None = None

    def options(self) -> dict[str, Any]:
        """The focus, if any, under the name that the installed version has for it."""
        name = "focus" if "focus" in metric_class(*self.metric).__dataclass_fields__ else "mode"
        return {name: self.focus} if self._choice("focus", ("relevant", "irrelevant")) else {}


class BaseRagasNonLLMContextPrecisionWithReference(
    MapsRetrievedContexts[TestCaseType, OutputType],
    MapsReferenceContexts[TestCaseType],
    RagasEvaluator[TestCaseType, OutputType],
    abc.ABC,
    Generic[TestCaseType, OutputType],
):
    """The mean precision of the retrieved contexts, in [0, 1]; those are relevant that resemble a reference context."""

    metric = ("_context_precision", "NonLLMContextPrecisionWithReference")


class BaseRagasNonLLMContextRecall(
    MapsRetrievedContexts[TestCaseType, OutputType],
    MapsReferenceContexts[TestCaseType],
    RagasEvaluator[TestCaseType, OutputType],
    abc.ABC,
    Generic[TestCaseType, OutputType],
):
    """The part of the reference contexts that a retrieved one resembles, in [0, 1]."""

    metric = ("_context_recall", "NonLLMContextRecall")


class BaseRagasResponseRelevancy(
    MapsUserInput[TestCaseType, OutputType],
    MapsResponse[OutputType],
    RagasEvaluator[TestCaseType, OutputType],
    abc.ABC,
    Generic[TestCaseType, OutputType],
):
    """How near the questions that the response would answer are to the one that was asked, in [0, 1]."""

    metric = ("_answer_relevance", "ResponseRelevancy")
    needs = ("llm", "embeddings")
    llm: Any = None
    embeddings: Any = None


class BaseRagasSemanticSimilarity(
    MapsResponse[OutputType],
    MapsReference[TestCaseType],
    RagasEvaluator[TestCaseType, OutputType],
    abc.ABC,
    Generic[TestCaseType, OutputType],
):
    """The cosine of the response and the reference, in [0, 1]."""

    metric = ("_answer_similarity", "SemanticSimilarity")
    needs = ("embeddings",)
    embeddings: Any = None
