"""Embeddings of texts from OpenAI's API, of any provider: cached, limited, priced and within the budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from scoregate.errors import MalformedAnswer
from scoregate.kernel.types.text import parse_number, replace_surrogates
from scoregate.models.ask import ask
from scoregate.models.budget import current_model_settings
from scoregate.models.calls import ASYNC, Call, ModelResponse, run_steps_async
from scoregate.models.errors import convert_error
from scoregate.models.http_clients import get_async_client
from scoregate.models.providers import ModelTarget, resolve_target
from scoregate.models.requests import RAW

EMBEDDINGS = "/embeddings"
_MOST_DIMENSIONS = 100_000


async def embed_texts(model: str, texts: Sequence[str]) -> list[list[float]]:
    """Ask a model for the vectors of texts.

    Args:
        model: "provider/name", or a name of OpenAI's.
        texts: texts that are not empty.

    Returns:
        A vector for each text, all of the same length.

    Raises:
        ModelError: the model gives no vectors.
        MissingExtra: the openai package is not installed.
    """
    target = resolve_target(model, settings=current_model_settings())
    # Other servers don't know the base64 form, which the openai package asks for by default.
    body = {"model": target.model, "input": [*map(replace_surrogates, texts)], "encoding_format": "float"}
    sender = _Sender(target, body)
    call = Call(target.provider, target.base_url, EMBEDDINGS, body, sender.send, is_cacheable=sender.is_complete)
    try:
        answer = await run_steps_async(ask(call, ASYNC))
    except Exception as error:
        converted = convert_error(error, provider=target.provider, model=target.model, keys=target.keys)
        if converted is error:
            raise
        raise converted from None
    return _read_vectors(answer.data, len(texts), target.name)


@dataclass(frozen=True, slots=True)
class _Sender:
    """Sends one request."""

    target: ModelTarget
    body: Mapping[str, Any]

    async def send(self) -> ModelResponse:
        options: dict[str, Any] = {"cast_to": object, "body": self.body, "options": {"headers": RAW}}
        response: Any = await get_async_client(self.target).post(EMBEDDINGS, **options)
        return ModelResponse(response.headers, response.content)

    def is_complete(self, data: Mapping[str, Any]) -> bool:
        """Whether an answer may be stored."""
        try:
            _read_vectors(data, len(self.body["input"]), self.target.name)
        except MalformedAnswer:
            return False
        return True


def _read_vectors(data: Mapping[str, Any], count: int, model: str) -> list[list[float]]:
    items = data.get("data")
    vector_by_index: dict[int, list[float]] = {}
    for place, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, Mapping) and isinstance(values := item.get("embedding"), list):
            index = item.get("index", place)  # nothing promises that the vectors are in order
            vector_by_index[index if isinstance(index, int) else place] = _read_numbers(values)
    vectors = [vector_by_index[index] for index in range(count) if index in vector_by_index]
    sizes = {len(vector) for vector in vectors}
    if len(vectors) != count or len(sizes) != 1 or not 0 < sizes.pop() <= _MOST_DIMENSIONS:
        raise MalformedAnswer(
            f"{model}: the answer has no vectors of one length for {count} texts",
            advice="Name a model for embeddings, such as openai/text-embedding-3-small.",
        )
    return vectors


def _read_numbers(values: Sequence[Any]) -> list[float]:
    """The numbers of a vector; empty if a value is no finite number."""
    numbers = [parse_number(value) for value in values[: _MOST_DIMENSIONS + 1]]
    finite = [number for number in numbers if number is not None and isfinite(number)]
    return finite if len(finite) == len(numbers) else []
