"""Fields of GitHub's answers, checked where they are read: a proxy or a fault may have answered anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic_core import from_json

from scoregate.errors import GitHubRefused

if TYPE_CHECKING:
    import httpx

LARGEST = 128 << 20
_T = TypeVar("_T")


def parse_json(content: bytes) -> Any:
    """What a body says.

    Raises:
        ValueError: it is no JSON, or nested more deeply than anything that GitHub answers.
    """
    return from_json(content)


def text_at(answer: object, *keys: str) -> str:
    """The text behind these keys.

    Raises:
        GitHubRefused: there is none.
    """
    return _at(answer, keys, str)


def number_at(answer: object, *keys: str) -> int:
    """The whole number behind these keys.

    Raises:
        GitHubRefused: there is none.
    """
    return _at(answer, keys, int)


def rows_at(answer: object, *keys: str) -> list[Mapping[str, Any]]:
    """The list of objects behind these keys, or the answer itself where none is given.

    Raises:
        GitHubRefused: there is no list, or something else is in it.
    """
    found = _at(answer, keys, list)
    if not all(isinstance(each, dict) for each in found):
        raise GitHubRefused(f"GitHub's answer can't be used: {_named(keys)} holds something other than objects")
    return found


def _at(answer: object, keys: tuple[str, ...], kind: type[_T]) -> _T:
    found = answer
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    if not isinstance(found, kind) or isinstance(found, bool):
        raise GitHubRefused(
            f"GitHub's answer can't be used: {_named(keys)} is {type(found).__name__}, not {kind.__name__}"
        )
    return found


def _named(keys: tuple[str, ...]) -> str:
    return ".".join(keys) or "it"


async def read_bounded(answer: httpx.Response) -> httpx.Response:
    """The answer with its body, which is read here.

    Raises:
        GitHubRefused: the body is too large. httpx.RequestError: the connection broke, or the body can't be decoded.
    """
    import httpx

    body = bytearray()
    async for chunk in answer.aiter_bytes():
        body += chunk
        if len(body) > LARGEST:
            raise GitHubRefused(f"GitHub's answer is larger than {LARGEST >> 20} MB", status=answer.status_code)
    coded = ("content-encoding", "content-length", "transfer-encoding")
    headers = [(name, value) for name, value in answer.headers.multi_items() if name not in coded]
    return httpx.Response(answer.status_code, headers=headers, content=bytes(body), request=answer.request)
