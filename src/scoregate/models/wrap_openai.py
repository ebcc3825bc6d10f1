"""A proxy around an OpenAI client: its calls are limited, counted, priced and cached."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache, wraps
from typing import Any, TypeVar
from urllib.parse import urlsplit

from scoregate.kernel.types.evaluation import Usage
from scoregate.models.ask import ask, find_cached_answer
from scoregate.models.budget import CallAccounting, parse_usage
from scoregate.models.calls import (
    ASYNC,
    SYNC,
    Answer,
    Call,
    Mode,
    ModelResponse,
    Steps,
    record_stream_usage,
    run_steps,
    run_steps_async,
)
from scoregate.models.errors import add_advice
from scoregate.models.gateway import find_gateway_provider, origin_headers
from scoregate.models.http_clients import close_connections_at_end, create_http_client, import_openai
from scoregate.models.providers import PROVIDERS
from scoregate.models.requests import RAW

Count = Callable[[Usage], None]


def add_usage_option(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the request with an option that makes the stream end with its usage."""
    return {**body, "stream_options": {**(body.get("stream_options") or {}), "include_usage": True}}


def asks_for_usage(body: Mapping[str, Any]) -> bool:
    """Whether the caller expects a last chunk that contains only the usage."""
    return bool((body.get("stream_options") or {}).get("include_usage"))


class StreamUsageCounter:
    """Counts the usage that the chunks of a stream report.

    Args:
        count: is called with the usage.
        model: the name of the model.
        hide_usage: whether to remove the chunk with only the usage, because the caller did not ask for it.
    """

    def __init__(self, count: Count, model: str, *, hide_usage: bool) -> None:
        self._count, self._model, self._hide_usage = count, model, hide_usage

    def iterate(self, chunks: Iterator[Any]) -> Iterator[Any]:
        """Yield the chunks, and count their usage."""
        for chunk in chunks:
            if self._count_chunk(chunk):
                yield chunk

    async def iterate_async(self, chunks: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Yield the chunks, and count their usage."""
        async for chunk in chunks:
            if self._count_chunk(chunk):
                yield chunk

    def _count_chunk(self, chunk: Any) -> bool:
        """Count the usage of a chunk, and return whether to yield the chunk."""
        response = getattr(chunk, "response", None) or chunk
        reported = getattr(response, "usage", None)
        if reported is None:
            return True
        if (usage := parse_usage({"usage": reported.model_dump()}, self._model)) is not None:
            self._count(usage)
        return not (self._hide_usage and getattr(chunk, "choices", None) == [])


CHAT = "/chat/completions"


def restore_answer(answer: Answer, cast_to: Any, parser: Any = None) -> Any:
    """Create the object of the openai package for a cached answer.

    Args:
        answer: the answer.
        cast_to: the class of the object.
        parser: the package's function that parses the object; None for no such function.
    """
    try:
        result = cast_to.model_validate_json(answer.body)
    except ValueError:  # servers omit declared fields, and the package accepts that
        result = cast_to.construct(**answer.data)
    return parser(result) if parser else result


def parse_response(response: Any, cast_to: Any, parser: Any = None) -> Any:
    """Create the object of the openai package for a response; the package itself parses an irregular response."""
    try:
        result = cast_to.model_validate_json(response.content)
    except (ValueError, AttributeError):
        return response.parse()
    result._request_id = response.headers.get("x-request-id")  # as the package sets it when it parses
    return parser(result) if parser else result


def is_answer(data: Mapping[str, Any]) -> bool:
    """Whether an answer may be stored: it has no error, and no content filter stopped it."""
    choices = data.get("choices") or ()
    return not data.get("error") and all(choice.get("finish_reason") != "content_filter" for choice in choices)


@dataclass(frozen=True, slots=True)
class Origin:
    """The server of a client.

    Attributes:
        name: the provider, or the host if no provider is known for it.
        address: the base URL.
        has_stream_usage: whether the server reports the usage at the end of a stream on request.
    """

    name: str
    address: str
    has_stream_usage: bool = False


def find_origin(client: Any) -> Origin:
    """Find the server of a client."""
    return _origin(str(client.base_url).rstrip("/"), type(client).__name__, os.environ.get("OPENAI_BASE_URL", ""))


@lru_cache(maxsize=64)
def _origin(address: str, kind: str, openai: str) -> Origin:
    host = urlsplit(address).netloc
    if (provider := find_gateway_provider(address)) is not None:
        return Origin(provider, address, has_stream_usage=provider in ("openai", "azure"))
    if "azure" in kind.lower() or host.endswith(".azure.com"):
        return Origin("azure", address, has_stream_usage=True)
    known = {urlsplit(provider.base_url or "").netloc: name for name, provider in PROVIDERS.items()}
    name = "openai" if host == urlsplit(openai).netloc else known.get(host, host)
    return Origin(name, address, has_stream_usage=name == "openai")


_PATHS = (CHAT, "/responses", "/embeddings", "/completions")
_RAW_HEADER = next(iter(RAW))


class WrappedRequest:
    """A request of a wrapped client.

    Args:
        client: the client.
        send_request: the method of the openai package that sends the request.
        path: the path of the API, the first argument of `send_request`.
        arguments: the other arguments of `send_request`.
    """

    def __init__(self, client: Any, send_request: Callable[..., Any], path: str, arguments: Mapping[str, Any]) -> None:
        self._origin = find_origin(client)
        self._client, self._send_request, self._path, self._arguments = client, send_request, path, arguments
        self._body: Any = arguments.get("body")
        self._options: Mapping[str, Any] = arguments.get("options") or {}
        self._headers: Mapping[str, Any] = self._options.get("headers") or {}
        self._is_stream = bool(arguments.get("stream"))

    @property
    def is_counted(self) -> bool:
        """Whether this is a call of a model in a known form; a raw stream is not."""
        is_known = self._path in _PATHS and isinstance(self._body, Mapping)
        return is_known and self._headers.get(_RAW_HEADER) in (None, "true")

    @property
    def model(self) -> str:
        """The name of the model in the request."""
        return str(self._body.get("model", ""))

    @property
    def _is_raw(self) -> bool:
        return _RAW_HEADER in self._headers

    @property
    def _adds_usage(self) -> bool:
        """Whether to request the usage at the end of a stream, because the user did not."""
        has_usage = self._is_stream and self._path == CHAT and self._origin.has_stream_usage and not self._is_raw
        return has_usage and not asks_for_usage(self._body)

    def send_unchanged(self) -> Any:
        """Send the request as an unwrapped client does."""
        return self._send_request(self._path, **self._arguments)

    def ask(self, mode: Mode) -> Steps[Answer]:
        """Return the answer, from the cache or the server."""
        is_cacheable = not self._is_stream and not self._is_raw
        return ask(
            Call(
                self._origin.name,
                self._origin.address,
                self._path,
                self._body,
                self.a_send if mode.is_async else self.send,
                is_cacheable=is_answer if is_cacheable else None,
            ),
            mode,
        )

    def send(self) -> ModelResponse:
        """Send the request for a raw response."""
        return self._read_response(self._send_request(self._path, **self._raw_arguments()))

    async def a_send(self) -> ModelResponse:
        """Send the request for a raw response."""
        return self._read_response(await self._send_request(self._path, **self._raw_arguments()))

    def _raw_arguments(self) -> dict[str, Any]:
        """The arguments for a raw response and without the package's own retries."""
        options = {
            **self._options,
            "headers": {**self._headers, **RAW, **origin_headers(self._origin.address)},
            "max_retries": 0,
        }
        body = add_usage_option(self._body) if self._adds_usage else self._body
        return {**self._arguments, "body": body, "options": options}

    def _read_response(self, response: Any) -> ModelResponse:
        return ModelResponse(response.headers, None if self._is_stream else response.content, response)

    def build_result(self, answer: Answer, mode: Mode) -> Any:
        """Build the object that the client returns to the user."""
        cast_to, parser = self._arguments["cast_to"], self._options.get("post_parser")
        if answer.response is None:
            return restore_answer(answer, cast_to, parser)
        response = answer.response.value
        if self._is_raw:
            return response
        if not self._is_stream:
            return parse_response(response, cast_to, parser)
        stream = response.parse()
        account = CallAccounting.current()

        def charge(usage: Usage) -> None:
            priced = account.price_usage(usage, provider=self._origin.name, model=self.model)
            account.charge(priced)
            if answer.recorded is not None:
                record_stream_usage(account.meter, answer.recorded, priced)

        counter = StreamUsageCounter(charge, self.model, hide_usage=self._adds_usage)
        iterate = counter.iterate_async if mode.is_async else counter.iterate
        stream._iterator = iterate(stream._iterator)
        return stream


_NOT_IN_QUESTION = {"timeout", "extra_body"}
_UNSET_TYPES = {"NotGiven", "Omit"}


def read_cache_first(client: Any, create: Callable[..., Any]) -> Callable[..., Any]:
    """Return `create` of chat completions with a fast path that reads the cache."""

    @wraps(create)
    def create_or_read(*args: Any, **arguments: Any) -> Any:
        completion = None if args else _find_completion(client, arguments)
        return create(*args, **arguments) if completion is None else completion

    return create_or_read


def read_cache_first_async(client: Any, create: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """Do the same as `read_cache_first` for async clients."""

    @wraps(create)
    async def create_or_read(*args: Any, **arguments: Any) -> Any:
        completion = None if args else _find_completion(client, arguments)
        return await create(*args, **arguments) if completion is None else completion

    return create_or_read


def _find_completion(client: Any, arguments: Mapping[str, Any]) -> Any:
    """Return the cached answer for arguments of `create`; None if `create` must be called.

    The question is not found here if the package changes arguments before it sends them; then `create` finds it.
    """
    if arguments.get("stream") or arguments.get("extra_headers") or arguments.get("extra_query"):
        return None
    if arguments.get("extra_body"):
        return None
    from openai.types.chat import ChatCompletion

    question = {
        name: value
        for name, value in arguments.items()
        if name not in _NOT_IN_QUESTION and type(value).__name__ not in _UNSET_TYPES
    }
    origin = find_origin(client)
    answer = find_cached_answer(Call(origin.name, origin.address, CHAT, question, send=lambda: None))  # is never sent
    return None if answer is None else restore_answer(answer, ChatCompletion)


T = TypeVar("T")


def wrap(client: T) -> T:
    """Return a copy of a client whose model calls are counted for the current case.

    This applies to chat completions, responses and embeddings, also as streams and with `parse`. Calls wait for the
    rate limit, are retried, use the cache, and stay within the run's budget. They raise the same exceptions as before,
    and `BudgetSpent`. The copy uses an `http_client` of the user; otherwise it opens and closes its own connections.

    Streams are not cached: a replay can't show when chunks arrive, and a stream that is not read to its end has no
    complete answer. Calls in a `threading.Thread` or an executor count for the suite and the run but for no case,
    because such a thread doesn't know its case unless it runs in a copy of the case's context. Threads of asyncio and
    anyio do.

    Args:
        client: an `OpenAI` or `AsyncOpenAI` of the openai package, 1.40 or later, or an instance of a subclass.

    Raises:
        TypeError: the client has another type.
    """
    openai = import_openai()
    if isinstance(client, _Sync | _Async):
        return client
    if not isinstance(client, openai.OpenAI | openai.AsyncOpenAI):
        raise TypeError(f"wrap takes an OpenAI or AsyncOpenAI client, not a {type(client).__name__}")
    mixin = _Async if isinstance(client, openai.AsyncOpenAI) else _Sync
    # Only a template: its copy runs `__init__`, with the options of the client.
    template: Any = object.__new__(_wrapped_class(mixin, client.__class__))
    template.__dict__.update(client.__dict__)
    options: dict[str, Any] = {}
    http_client = getattr(client, "_client", None)
    if isinstance(client, openai.AsyncOpenAI) and type(http_client).__module__.startswith("openai."):
        # The default of the package, and no client of the user: replace it by one with a faster connection pool.
        options["http_client"] = create_http_client(openai, type(http_client))
    wrapped: T = template.copy(**options)
    return wrapped


@cache
def _wrapped_class(mixin: type, cls: type) -> type:
    """A subclass, so that copies of a client (`with_options`) are wrapped too."""
    return type(cls.__name__, (mixin, cls), {"__module__": cls.__module__, "__doc__": cls.__doc__})


class _Sync:
    """A mixin for `OpenAI` that handles the requests of its resources."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        completions = self.chat.completions  # type: ignore[attr-defined]
        completions.create = read_cache_first(self, completions.create)

    def post(self, path: str, **arguments: Any) -> Any:
        request = WrappedRequest(self, super().post, path, arguments)  # type: ignore[misc]
        if not request.is_counted:
            return request.send_unchanged()
        try:
            return request.build_result(run_steps(request.ask(SYNC)), SYNC)
        except Exception as error:
            add_advice(error, model=request.model)
            raise


class _Async:
    """A mixin for `AsyncOpenAI` that handles the requests of its resources."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        completions = self.chat.completions  # type: ignore[attr-defined]
        completions.create = read_cache_first_async(self, completions.create)

    async def post(self, path: str, **arguments: Any) -> Any:
        close_connections_at_end(self)
        request = WrappedRequest(self, super().post, path, arguments)  # type: ignore[misc]
        if not request.is_counted:
            return await request.send_unchanged()
        try:
            return request.build_result(await run_steps_async(request.ask(ASYNC)), ASYNC)
        except Exception as error:
            add_advice(error, model=request.model)
            raise
