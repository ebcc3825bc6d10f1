"""The base of the evaluators of ragas: samples from test cases and outputs, models, and scores."""

from __future__ import annotations

import abc
import asyncio
import copy
import inspect
import os
import threading
from collections.abc import Awaitable, Collection, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from math import isnan
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from scoregate.errors import InvalidSuite, ModelError
from scoregate.kernel.types.evaluation import Evaluation, Threshold
from scoregate.testing.evaluators.ragas.installation import installed_version, make_sample, metric_class
from scoregate.testing.models import BaseTestEvaluator, OutputType, TestCaseType

if TYPE_CHECKING:
    from scoregate.models.budget import CallAccounting

# The fields of ragas' sample, and the arguments of their mappers.
FIELDS = {
    "user_input": ("test_case", "output"),
    "response": ("output",),
    "reference": ("test_case",),
    "retrieved_contexts": ("test_case", "output"),
    "reference_contexts": ("test_case",),
}


class MapsUserInput(abc.ABC, Generic[TestCaseType, OutputType]):
    """An evaluator that uses the question."""

    @abc.abstractmethod
    def user_input_mapper(self, test_case: TestCaseType, output: OutputType) -> str | Awaitable[str]:
        """The question; sync or async."""


class MapsResponse(abc.ABC, Generic[OutputType]):
    """An evaluator that uses the answer."""

    @abc.abstractmethod
    def response_mapper(self, output: OutputType) -> str | Awaitable[str]:
        """The answer; sync or async."""


class MapsReference(abc.ABC, Generic[TestCaseType]):
    """An evaluator that uses the right answer."""

    @abc.abstractmethod
    def reference_mapper(self, test_case: TestCaseType) -> str | Awaitable[str]:
        """The right answer; sync or async."""


class MapsRetrievedContexts(abc.ABC, Generic[TestCaseType, OutputType]):
    """An evaluator that uses the retrieved texts."""

    @abc.abstractmethod
    def retrieved_contexts_mapper(
        self, test_case: TestCaseType, output: OutputType
    ) -> list[str] | Awaitable[list[str]]:
        """The retrieved texts, the best first; sync or async."""


class MapsReferenceContexts(abc.ABC, Generic[TestCaseType]):
    """An evaluator that uses the texts to retrieve."""

    @abc.abstractmethod
    def reference_contexts_mapper(self, test_case: TestCaseType) -> list[str] | Awaitable[list[str]]:
        """The texts that should have been retrieved; sync or async."""


class MapsAllButResponse(
    MapsUserInput[TestCaseType, OutputType],
    MapsReference[TestCaseType],
    MapsRetrievedContexts[TestCaseType, OutputType],
    abc.ABC,
    Generic[TestCaseType, OutputType],
):
    """An evaluator that compares the retrieved texts with the right answer."""


_MODEL_ATTRIBUTES = ("langchain_llm", "llm", "embeddings")
_NAME_ATTRIBUTES = ("model_name", "model")


def model_label(model: Any) -> str | None:
    """The name of a model of ragas, or of the one that it wraps; None if it has none."""
    wrapped = [inner for attribute in _MODEL_ATTRIBUTES if (inner := getattr(model, attribute, None)) is not None]
    names = (getattr(each, name, None) for each in (*wrapped, model) for name in _NAME_ATTRIBUTES)
    return next((name for name in names if isinstance(name, str) and name), None)


def copy_llm(llm: Any) -> Any:
    """A copy with the same connections.

    ragas sets `n` and the temperature of a question on the LangChain model itself, so questions at the same time must
    not share a model.
    """
    inner = getattr(llm, "langchain_llm", None)
    if inner is None:
        return llm
    twin = copy.copy(llm)
    twin.langchain_llm = copy.copy(inner)
    return twin


def adapt_embeddings(embeddings: Any) -> Any:
    """Embeddings with the method names of LangChain, which some metrics call and ragas' newer classes lack."""
    if hasattr(embeddings, "embed_query") or not hasattr(embeddings, "embed_texts"):
        return embeddings
    return _EmbeddingsAdapter(embeddings)


class _EmbeddingsAdapter:
    def __init__(self, embeddings: Any) -> None:
        self._embeddings = embeddings
        self.embed_query = embeddings.embed_text
        self.embed_documents = embeddings.embed_texts

    async def aembed_text(self, text: str) -> Any:
        """The vector; ragas does not await a result of a sync client."""
        if getattr(self._embeddings, "is_async", True):
            return await self._embeddings.aembed_text(text)
        return await asyncio.to_thread(self._embeddings.embed_text, text)


T = TypeVar("T")
_loop_lock = threading.Lock()


async def run_in_ragas_loop(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in the loop for ragas, in the caller's context; it is cancelled with the caller."""
    with _loop_lock:
        loop = _ragas_loop(os.getpid())
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, loop))


@cache
def _ragas_loop(process: int) -> asyncio.AbstractEventLoop:  # noqa: ARG001 - a fork has no threads of its parent
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="scoregate-ragas", daemon=True).start()
    return loop


@contextmanager
def charging_callbacks(*, asks: bool) -> Iterator[list[Any]]:
    """Callbacks for LangChain that charge the current case; none if the metric asks no model.

    Raises:
        BudgetSpent: the run's budget does not allow a call.
    """
    if not asks:
        yield []
        return
    from scoregate.models.budget import CallAccounting

    account = CallAccounting.current()
    with account.reserve_budget():
        yield [_callback_class()(account)]


@cache
def _callback_class() -> Any:
    return type("Listener", (_UsageCallback, import_module("langchain_core.callbacks").BaseCallbackHandler), {})


class _UsageCallback:
    def __init__(self, account: CallAccounting) -> None:
        self._account = account
        self._providers: dict[Any, str] = {}

    def on_chat_model_start(self, *_: Any, run_id: Any, metadata: Mapping[str, Any] | None = None, **__: Any) -> None:
        """Remember the provider."""
        self._providers[run_id] = str((metadata or {}).get("ls_provider") or "openai")

    def on_llm_end(self, response: Any, *, run_id: Any, **_: Any) -> None:
        """Charge the usage of the answer."""
        from scoregate.models.budget import parse_usage

        output = response.llm_output or {}
        model = str(output.get("model_name") or output.get("model") or "unknown")
        used = parse_usage({"usage": output.get("token_usage") or output.get("usage")}, model)
        provider = self._providers.pop(run_id, "openai")
        self._account.charge(self._account.price_usage(used, provider=provider, model=model))


_DECIMALS = 6  # cosines of vectors in single precision differ after these; 0.99999994 should be 1
_TOLERANCE = 1e-4
_SCORE_ADVICE = "look at the vectors that the embeddings give: they must be finite, and all of the same length"


class RagasEvaluator(BaseTestEvaluator[TestCaseType, OutputType], abc.ABC, Generic[TestCaseType, OutputType]):
    """Scores with a metric of ragas. A subclass may define more mappers than the required ones.

    Attributes:
        metric: the metric's module in ragas, and its name.
        needs: the models that the metric uses.
    """

    version = 1
    threshold: Threshold | None = None
    metric: ClassVar[tuple[str, str]]
    needs: ClassVar[tuple[str, ...]] = ()

    @property
    def model(self) -> str | None:
        """The known names of the models and the version of ragas; scores depend on all of them."""
        names = [model_label(getattr(self, kind, None)) for kind in self.needs]
        installed = installed_version()
        known = [*filter(None, names), *([f"ragas {installed}"] if installed else [])]
        return ", ".join(known) or None

    def options(self) -> dict[str, Any]:
        """The arguments of the metric besides its models."""
        return {}

    def evaluate_test_case(self, test_case: TestCaseType, output: OutputType) -> Awaitable[Evaluation]:
        """Call the mappers and score with ragas. Not async, because the import of ragas may take seconds.

        Raises:
            InvalidSuite: a property that the metric needs is missing or not valid.
            MissingExtra: ragas is not installed, or in another version.
        """
        metric = metric_class(*self.metric)(**self._models(), **self.options())
        arguments = {"test_case": test_case, "output": output}
        mappers = {name: mapper for name in FIELDS if (mapper := getattr(self, f"{name}_mapper", None)) is not None}
        mapped = {name: mapper(*(arguments[part] for part in FIELDS[name])) for name, mapper in mappers.items()}
        return self._evaluate(metric, mapped)

    async def _evaluate(self, metric: Any, mapped: dict[str, Any]) -> Evaluation:
        fields = {name: await value if inspect.isawaitable(value) else value for name, value in mapped.items()}
        with charging_callbacks(asks=bool(self.needs)) as callbacks:
            result = await run_in_ragas_loop(metric.single_turn_ascore(make_sample(fields), callbacks=callbacks))
        name, score = self.metric[1], float(result)
        if isnan(score):
            raise ModelError(
                f"ragas' {name} gave no score (NaN) for this case",
                advice="ragas does so where it finds nothing to judge, as in an empty response, reference or context, "
                "or cannot read the model's answer: look at what the mappers give, or take a stronger model",
            )
        if not abs(score) <= 1 + _TOLERANCE:
            raise ModelError(f"ragas' {name} gave {score:g}, which is not a score in [0, 1]", advice=_SCORE_ADVICE)
        # A cosine may be negative, for texts that have even less in common than unrelated ones.
        score = min(max(round(score, _DECIMALS), 0.0), 1.0)
        return Evaluation(score=score, threshold=self.threshold)

    def _models(self) -> dict[str, Any]:
        for kind in self.needs:
            if getattr(self, kind, None) is None:
                raise InvalidSuite(
                    f"{type(self).__name__} has no {kind}, which ragas' {self.metric[1]} asks",
                    advice=f"set {kind} on the class, such as {_EXAMPLES[kind]}",
                )
        return {kind: _PREPARED[kind](getattr(self, kind)) for kind in self.needs}

    def _choice(self, name: str, choices: Collection[str]) -> dict[str, str]:
        """The property as an argument; empty if it is not set, and ragas decides."""
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
_PREPARED = {"llm": copy_llm, "embeddings": adapt_embeddings}
