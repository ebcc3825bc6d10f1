"""The user's own client, with its calls counted, limited and kept."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar

from scoregate.models.clients import openai_package
from scoregate.models.connections import leave_with_loop
from scoregate.models.failures import advise
from scoregate.models.lanes import with_lanes
from scoregate.models.posts import Post
from scoregate.models.shortcuts import a_shortcut, shortcut
from scoregate.models.steps import ASYNC, SYNC, a_run, run

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
