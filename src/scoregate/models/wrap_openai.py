"""A proxy around an OpenAI client: its calls are limited, counted, priced and cached."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache, partial, wraps
from typing import Any, TypeVar
from urllib.parse import urlsplit

from scoregate.core.evaluation import Usage
from scoregate.models.ask import ask, recall
from scoregate.models.budget import CallAccounting, usage_of
from scoregate.models.calls import ASYNC, SYNC, Answer, Call, Mode, Sent, Steps, a_run, run
from scoregate.models.errors import advise
from scoregate.models.http_clients import leave_with_loop, openai_package, with_lanes
from scoregate.models.providers import PROVIDERS
from scoregate.models.requests import RAW

Count = Callable[[Usage], None]


def with_usage(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The request, so that the stream ends with what it used."""
    return {**body, "stream_options": {**(body.get("stream_options") or {}), "include_usage": True}}


def asks_for_usage(body: Mapping[str, Any]) -> bool:
    """Whether the caller expects a last piece that has nothing but the usage."""
    return bool((body.get("stream_options") or {}).get("include_usage"))


class Tally:
    """Looks at the pieces of one stream as they pass; `hides` the piece that nobody but us asked for."""

    def __init__(self, count: Count, model: str, *, hides: bool) -> None:
        self._count, self._model, self._hides = count, model, hides

    def sync(self, pieces: Iterator[Any]) -> Iterator[Any]:
        """The pieces, counted."""
        for piece in pieces:
            if self._passes(piece):
                yield piece

    async def a_sync(self, pieces: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """The pieces, counted."""
        async for piece in pieces:
            if self._passes(piece):
                yield piece

    def _passes(self, piece: Any) -> bool:
        holder = getattr(piece, "response", None) or piece
        told = getattr(holder, "usage", None)
        if told is None:
            return True
        if (usage := usage_of({"usage": told.model_dump()}, self._model)) is not None:
            self._count(usage)
        return not (self._hides and getattr(piece, "choices", None) == [])


CHAT = "/chat/completions"


def restored(answer: Answer, cast_to: Any, parser: Any = None) -> Any:
    """The object of the package's class, put through its parser where there is one."""
    try:
        made = cast_to.model_validate_json(answer.body)
    except ValueError:  # servers leave out what the package declares, and it lets that pass
        made = cast_to.construct(**answer.table)
    return parser(made) if parser else made


def received(response: Any, cast_to: Any, parser: Any = None) -> Any:
    """The same of a response; where it is not quite what the package declares, the package itself makes what it can."""
    try:
        made = cast_to.model_validate_json(response.content)
    except (ValueError, AttributeError):
        return response.parse()
    made._request_id = response.headers.get("x-request-id")
    return parser(made) if parser else made


def is_answer(table: Mapping[str, Any]) -> bool:
    """Whether it may be kept: no error, and nothing that a filter stopped."""
    choices = table.get("choices") or ()
    return not table.get("error") and all(choice.get("finish_reason") != "content_filter" for choice in choices)


@dataclass(frozen=True, slots=True)
class Origin:
    """`name` is the provider's, or the host's where no provider is known there.

    `tells_usage`: at the end of a stream too, if it is asked to.
    """

    name: str
    address: str
    tells_usage: bool = False


def origin_of(client: Any) -> Origin:
    """Where its calls go."""
    return _origin(str(client.base_url).rstrip("/"), type(client).__name__, os.environ.get("OPENAI_BASE_URL", ""))


@lru_cache(maxsize=64)
def _origin(address: str, kind: str, openai: str) -> Origin:
    host = urlsplit(address).netloc
    if "azure" in kind.lower() or host.endswith(".azure.com"):
        return Origin("azure", address, tells_usage=True)
    known = {urlsplit(provider.base_url or "").netloc: name for name, provider in PROVIDERS.items()}
    name = "openai" if host == urlsplit(openai).netloc else known.get(host, host)
    return Origin(name, address, tells_usage=name == "openai")


_PATHS = (CHAT, "/responses", "/embeddings", "/completions")
_RAW_HEADER = next(iter(RAW))


class Post:
    """A request as the package's resources make it.

    Args:
        client: whose it is. send: the package's own way to send it. path, given: what that is called with.
    """

    def __init__(self, client: Any, send: Callable[..., Any], path: str, given: Mapping[str, Any]) -> None:
        self._origin = origin_of(client)
        self._client, self._send, self._path, self._given = client, send, path, given
        self._body: Any = given.get("body")
        self._options: Mapping[str, Any] = given.get("options") or {}
        self._headers: Mapping[str, Any] = self._options.get("headers") or {}
        self._is_stream = bool(given.get("stream"))

    @property
    def counts(self) -> bool:
        """Whether this asks a model, in a form that we know to read; a raw stream is none."""
        is_known = self._path in _PATHS and isinstance(self._body, Mapping)
        return is_known and self._headers.get(_RAW_HEADER) in (None, "true")

    @property
    def model(self) -> str:
        """The name that is asked for."""
        return str(self._body.get("model", ""))

    @property
    def _is_raw(self) -> bool:
        return _RAW_HEADER in self._headers

    @property
    def _adds_usage(self) -> bool:
        """Whether we ask for the usage at the end of a stream, where the user did not."""
        wants = self._is_stream and self._path == CHAT and self._origin.tells_usage and not self._is_raw
        return wants and not asks_for_usage(self._body)

    def as_it_is(self) -> Any:
        """Sent as if nobody had wrapped the client."""
        return self._send(self._path, **self._given)

    def asked(self, mode: Mode) -> Steps[Answer]:
        """The steps to an answer."""
        is_kept = not self._is_stream and not self._is_raw
        return ask(
            Call(
                self._origin.name,
                self._origin.address,
                self._path,
                self._body,
                self._a_sent if mode.is_async else self._sent,
                keeps=is_answer if is_kept else None,
            ),
            mode,
        )

    def _sent(self) -> Sent:
        return self._read(self._send(self._path, **self._prepared()))

    async def _a_sent(self) -> Sent:
        return self._read(await self._send(self._path, **self._prepared()))

    def _prepared(self) -> dict[str, Any]:
        """As the response came, and without the package's own retries."""
        options = {**self._options, "headers": {**self._headers, **RAW}, "max_retries": 0}
        body = with_usage(self._body) if self._adds_usage else self._body
        return {**self._given, "body": body, "options": options}

    def _read(self, response: Any) -> Sent:
        return Sent(response.headers, None if self._is_stream else response.content, response)

    def value(self, answer: Answer, mode: Mode) -> Any:
        """What the client's user gets for it."""
        cast_to, parser = self._given["cast_to"], self._options.get("post_parser")
        if answer.sent is None:
            return restored(answer, cast_to, parser)
        response = answer.sent.value
        if self._is_raw:
            return response
        return self._counted(response.parse(), mode) if self._is_stream else received(response, cast_to, parser)

    def _counted(self, stream: Any, mode: Mode) -> Any:
        tally = Tally(partial(self._count, CallAccounting.here()), self.model, hides=self._adds_usage)
        look = tally.a_sync if mode.is_async else tally.sync
        stream._iterator = look(stream._iterator)
        return stream

    def _count(self, account: CallAccounting, usage: Usage) -> None:
        account.charge(account.priced(usage, provider=self._origin.name, model=self.model))


_NOT_ASKED = {"timeout", "extra_body"}
_NOT_GIVEN = {"NotGiven", "Omit"}


def shortcut(client: Any, create: Callable[..., Any]) -> Callable[..., Any]:
    """`create` of chat completions, which looks into the cache first."""

    @wraps(create)
    def quick(*args: Any, **given: Any) -> Any:
        found = None if args else _found(client, given)
        return create(*args, **given) if found is None else found

    return quick


def a_shortcut(client: Any, create: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """The same for async clients."""

    @wraps(create)
    async def quick(*args: Any, **given: Any) -> Any:
        found = None if args else _found(client, given)
        return await create(*args, **given) if found is None else found

    return quick


def _found(client: Any, given: Mapping[str, Any]) -> Any:
    """What is kept for these arguments; None where the long way has to be gone.

    Arguments that the package changes before it sends them are not found here, and are there.
    """
    if given.get("stream") or given.get("extra_headers") or given.get("extra_query") or given.get("extra_body"):
        return None
    from openai.types.chat import ChatCompletion

    asked = {
        name: value
        for name, value in given.items()
        if name not in _NOT_ASKED and type(value).__name__ not in _NOT_GIVEN
    }
    origin = origin_of(client)
    answer = recall(Call(origin.name, origin.address, CHAT, asked, send=_never))
    return None if answer is None else restored(answer, ChatCompletion)


def _never() -> None:
    raise AssertionError("only the cache is asked")


T = TypeVar("T")


def wrap(client: T) -> T:
    """A client like this one, whose calls of models are counted to the case that runs.

    Chat completions, responses and embeddings, also as streams and with `parse`, wait for their turn, are asked again
    where that helps, are read from the cache and kept in it, and stay within the run's budget. They raise what they
    ever raised, and `BudgetSpent`. An `http_client` of the user's own is gone through; else it has connections of its
    own, which it closes.

    Streams are not kept: who asks for one wants to see when its pieces come, which a replay cannot show, and an answer
    that its reader leaves halfway is none. Calls in a `threading.Thread` of one's own, or in an executor's, count for
    the suite and the run and to no case: such a thread does not know whose it is, unless it runs in a copy of the
    case's context. Threads of asyncio and anyio know.

    Args:
        client: an `OpenAI` or `AsyncOpenAI` of the openai package, 1.40 or later, or of a subclass.

    Raises:
        TypeError: it is something else.
    """
    openai = openai_package()
    if isinstance(client, _Sync | _Async):
        return client
    if not isinstance(client, openai.OpenAI | openai.AsyncOpenAI):
        raise TypeError(f"wrap takes an OpenAI or AsyncOpenAI client, not a {type(client).__name__}")
    mixin = _Async if isinstance(client, openai.AsyncOpenAI) else _Sync
    twin: Any = object.__new__(_class(mixin, client.__class__))
    twin.__dict__.update(client.__dict__)
    made: T = twin.copy(**_own_connections(openai, client))
    return made


def _own_connections(openai: Any, client: Any) -> dict[str, Any]:
    """Faster ones, where the client has those that the package makes and nobody has given it others."""
    pools = getattr(client, "_client", None)
    is_usual = isinstance(client, openai.AsyncOpenAI) and type(pools).__module__.startswith("openai.")
    return {"http_client": with_lanes(openai, type(pools))} if is_usual else {}


@cache
def _class(mixin: type, cls: type) -> type:
    """A subclass, so that copies of a client (`with_options`) are wrapped too."""
    return type(cls.__name__, (mixin, cls), {"__module__": cls.__module__, "__doc__": cls.__doc__})


class _Sync:
    """Stands before the package's client and takes over what its resources send."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        completions = self.chat.completions  # type: ignore[attr-defined]
        completions.create = shortcut(self, completions.create)

    def post(self, path: str, **given: Any) -> Any:
        post = Post(self, super().post, path, given)  # type: ignore[misc]
        if not post.counts:
            return post.as_it_is()
        try:
            return post.value(run(post.asked(SYNC)), SYNC)
        except Exception as error:
            advise(error, model=post.model)
            raise


class _Async:
    """The same for async clients."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        completions = self.chat.completions  # type: ignore[attr-defined]
        completions.create = a_shortcut(self, completions.create)

    async def post(self, path: str, **given: Any) -> Any:
        leave_with_loop(self)
        post = Post(self, super().post, path, given)  # type: ignore[misc]
        if not post.counts:
            return await post.as_it_is()
        try:
            return post.value(await a_run(post.asked(ASYNC)), ASYNC)
        except Exception as error:
            advise(error, model=post.model)
            raise
