"""What the evaluators of ragas share: from a test case and an output to ragas' sample, and from its score to ours."""

from __future__ import annotations

import abc
import inspect
from collections.abc import Awaitable, Collection
from math import isnan
from typing import Any, ClassVar, Generic

from scoregate.core.evaluation import Evaluation, Threshold
from scoregate.errors import InvalidSuite, ModelError
from scoregate.testing.evaluators.ragas.asked_models import embedding, for_one, name_of
from scoregate.testing.evaluators.ragas.installed import installed_version, metric_class, sample
from scoregate.testing.evaluators.ragas.loop import apart
from scoregate.testing.evaluators.ragas.mappers import FIELDS
from scoregate.testing.evaluators.ragas.spending import charged
from scoregate.testing.models import BaseTestEvaluator, OutputType, TestCaseType

_DECIMALS = 6  # cosines of vectors in single precision differ behind them, and 0.99999994 should be 1
_SLACK = 1e-4
_REPORT = "look at the vectors that the embeddings give: they must be finite, and all of the same length"


class RagasEvaluator(BaseTestEvaluator[TestCaseType, OutputType], abc.ABC, Generic[TestCaseType, OutputType]):
    """Scores with a metric of ragas; a mapper that a subclass defines beyond those it must is used too.

    `metric` is the module of ragas in which it stands, and its name. `needs` are the models that it asks.
    """

    version = 1
    threshold: Threshold | None = None
    metric: ClassVar[tuple[str, str]]
    needs: ClassVar[tuple[str, ...]] = ()

    @property
    def model(self) -> str | None:
        """The models that are asked and the version of ragas, as far as they can be told: scores depend on all."""
        names = [name_of(getattr(self, kind, None)) for kind in self.needs]
        installed = installed_version()
        known = [*filter(None, names), *([f"ragas {installed}"] if installed else [])]
        return ", ".join(known) or None

    def options(self) -> dict[str, Any]:
        """What the metric is made with besides its models."""
        return {}

    def evaluate_test_case(self, test_case: TestCaseType, output: OutputType) -> Awaitable[Evaluation]:
        """Map, and have ragas score; this part may take the seconds in which ragas is imported, so it is not async.

        Raises:
            InvalidSuite: a property that the metric needs is missing, or has a value that it may not have.
            MissingExtra: ragas is not installed, or of another version.
        """
        made = metric_class(*self.metric)(**self._models(), **self.options())
        told = {"test_case": test_case, "output": output}
        mappers = {name: mapper for name in FIELDS if (mapper := getattr(self, f"{name}_mapper", None)) is not None}
        mapped = {name: mapper(*(told[part] for part in FIELDS[name])) for name, mapper in mappers.items()}
        return self._evaluated(made, mapped)

    async def _evaluated(self, made: Any, mapped: dict[str, Any]) -> Evaluation:
        """What cannot be scored is no score.

        Raises:
            ModelError: ragas' score is not a number. BudgetSpent: the run may spend no more.
            Exception: whatever ragas, the mappers and the models raise.
        """
        fields = {name: await value if inspect.isawaitable(value) else value for name, value in mapped.items()}
        with charged(asks=bool(self.needs)) as callbacks:
            score = await apart(made.single_turn_ascore(sample(fields), callbacks=callbacks))
        return Evaluation(score=_in_range(score, self.metric[1]), threshold=self.threshold)

    def _models(self) -> dict[str, Any]:
        for kind in self.needs:
            if getattr(self, kind, None) is None:
                raise InvalidSuite(
                    f"{type(self).__name__} has no {kind}, which ragas' {self.metric[1]} asks",
                    advice=f"set {kind} on the class, such as {_EXAMPLES[kind]}",
                )
        return {kind: _PREPARED[kind](getattr(self, kind)) for kind in self.needs}

    def _choice(self, name: str, choices: Collection[str]) -> dict[str, str]:
        """The property as an option; empty where it is not set, and ragas decides."""
        value = getattr(self, name)
        if value is None:
            return {}
        if value not in choices:
            allowed = ", ".join(map(repr, choices))
            raise InvalidSuite(f"{type(self).__name__}.{name} must be one of {allowed}, not {value!r:.100}")
        return {name: value}


_EXAMPLES = {
    "llm": 'LangchainLLMWrapper(ChatOpenAI(model="gpt-4o"))',
    "embeddings": "LangchainEmbeddingsWrapper(OpenAIEmbeddings())",
}
_PREPARED = {"llm": for_one, "embeddings": embedding}


def _in_range(score: Any, name: str) -> float:
    number = float(score)
    if isnan(number):
        raise ModelError(
            f"ragas' {name} gave no score (NaN) for this case",
            advice="ragas does so where it finds nothing to judge, as in an empty response, reference or context, "
            "or cannot read the model's answer: look at what the mappers give, or take a stronger model",
        )
    if not abs(number) <= 1 + _SLACK:
        raise ModelError(f"ragas' {name} gave {number:g}, which is no score in [0, 1]", advice=_REPORT)
    # A cosine may be negative: such texts have less to do with one another than any two have.
    return min(max(round(number, _DECIMALS), 0.0), 1.0)
