"""The short way to a stored chat completion: before the package prepares a request that nobody will send."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import wraps
from typing import Any

from scoregate.models.asking import recall
from scoregate.models.calls import Call
from scoregate.models.origins import origin_of
from scoregate.models.restoring import CHAT, restored

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
