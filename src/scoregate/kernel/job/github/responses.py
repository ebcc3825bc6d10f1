"""Checked access to fields of GitHub's responses, since a proxy may have answered anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic_core import from_json

from scoregate.errors import GitHubRefused

if TYPE_CHECKING:
    import httpx

MAX_BODY_BYTES = 128 << 20
_T = TypeVar("_T")


def parse_json(content: bytes) -> Any:
    """The JSON in a body.

    Raises:
        ValueError: it is not JSON, or nested more deeply than anything that GitHub sends.
    """
    return from_json(content)


def text_at(response: object, *keys: str) -> str:
    """The text at a path of keys.

    Raises:
        GitHubRefused: there is none.
    """
    return _value_at(response, keys, str)


def number_at(response: object, *keys: str) -> int:
    """The whole number at a path of keys.

    Raises:
        GitHubRefused: there is none.
    """
    return _value_at(response, keys, int)


def rows_at(response: object, *keys: str) -> list[Mapping[str, Any]]:
    """The list of objects at a path of keys; without keys, the response itself.

    Raises:
        GitHubRefused: there is no list, or it holds something else than objects.
    """
    rows = _value_at(response, keys, list)
    if not all(isinstance(row, dict) for row in rows):
        raise GitHubRefused(f"GitHub's response can't be used: {_key_path(keys)} holds something other than objects")
    return rows


def _value_at(response: object, keys: tuple[str, ...], kind: type[_T]) -> _T:
    value = response
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    if not isinstance(value, kind) or isinstance(value, bool):  # True is an int
        raise GitHubRefused(
            f"GitHub's response can't be used: {_key_path(keys)} is {type(value).__name__}, not {kind.__name__}"
        )
    return value


def _key_path(keys: tuple[str, ...]) -> str:
    return ".".join(keys) or "it"


async def read_bounded(response: httpx.Response) -> httpx.Response:
    """Read the body of a streamed response, and close it.

    Raises:
        GitHubRefused: the body is too large.
        httpx.RequestError: the connection broke, or the body can't be decoded.
    """
    import httpx

    body = bytearray()
    try:
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > MAX_BODY_BYTES:
                raise GitHubRefused(
                    f"GitHub's response is larger than {MAX_BODY_BYTES >> 20} MB", status=response.status_code
                )
    finally:
        await response.aclose()
    encoding = ("content-encoding", "content-length", "transfer-encoding")  # aiter_bytes has unpacked the body
    headers = [(name, value) for name, value in response.headers.multi_items() if name not in encoding]
    return httpx.Response(response.status_code, headers=headers, content=bytes(body), request=response.request)
