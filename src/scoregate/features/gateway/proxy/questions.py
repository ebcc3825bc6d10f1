"""Questions: requests of suites, read with limits, with the digests that identify them."""

from __future__ import annotations

import asyncio
import re
import zlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import Any
from urllib.parse import parse_qsl, unquote

from pydantic_core import from_json

from scoregate.features.gateway.proxy.budget import Estimate
from scoregate.features.gateway.proxy.providers import GatewayProvider
from scoregate.features.gateway.proxy.sessions import CallOrigin
from scoregate.kernel.types.backoff import parse_number
from scoregate.kernel.types.call_headers import CASE, EVALUATOR, REPEAT, SUITE
from scoregate.kernel.types.records import record
from scoregate.models.cache import digest_question

MAX_BODY_BYTES = 32 * 1024 * 1024
_CHUNK_TIMEOUT_S = 60.0
_LONGEST_NAME = 200
_BOUNDARY = re.compile(r'boundary="?([^";,]{1,70})"?')
_MODEL_IN_PATH = re.compile(r"(?:models|deployments)/([^/:]+)")
_MODEL_IN_FORM = re.compile(
    rb'name="?model"?(?:[; ][^\r\n]{0,200})?\r?\n(?:[^\r\n]{1,200}\r?\n){0,5}\r?\n([^\r\n]{1,200})'
)
_MEDIA = re.compile(r"(?:^|/)(?:images|audio)/")
_NO_OUTPUT = ("embeddings", "moderations", "count_tokens", ":countTokens", ":embedContent", ":batchEmbedContents")
_LIMITS = ("max_completion_tokens", "max_output_tokens", "max_tokens")
_GEMINI_LIMITS = ("maxOutputTokens", "max_output_tokens")
_MOST_TOKENS = 10**12  # more can't be multiplied by a price
_COPIES, _GEMINI_COPIES = ("n", "best_of"), ("candidateCount", "candidate_count")
_NO_ORIGIN = CallOrigin()
_SECRET_PARAMETERS = {"key", "api_key", "api-key", "access_token"}


@record
class Refusal(Exception):
    """A request that is not forwarded.

    Attributes:
        status: the status of the response.
        code: the code of the error in the response.
        message: what is wrong and what to do.
    """

    status: int
    code: str
    message: str


class ClientGone(Exception):
    """The client closed the connection."""


async def read_body(
    receive: Callable[[], Awaitable[Any]], declared: str | None, *, max_bytes: int = MAX_BODY_BYTES
) -> bytes:
    """Read the body of a request.

    Args:
        receive: the next part, as in ASGI.
        declared: the content-length header; None without one.
        max_bytes: the limit of the size.

    Raises:
        Refusal: it is too large, or its next part did not arrive within a minute.
        ClientGone: the client closed the connection.
    """
    too_large = Refusal(413, "request_too_large", f"the body is larger than {max_bytes:,} bytes")
    if declared is not None and (parse_number(declared) or 0) > max_bytes:
        raise too_large
    message = await receive() if declared == "0" else await _receive_part(receive)  # no body is on its way
    if message["type"] == "http.disconnect":
        raise ClientGone
    if not message.get("more_body"):
        body: bytes = message.get("body", b"")
        if len(body) > max_bytes:
            raise too_large
        return body
    parts = bytearray(message.get("body", b""))
    while message.get("more_body"):
        message = await _receive_part(receive)
        if message["type"] == "http.disconnect":
            raise ClientGone
        parts += message.get("body", b"")
        if len(parts) > max_bytes:
            raise too_large
    return bytes(parts)


def decode_body(body: bytes, encoding: str, *, max_bytes: int = MAX_BODY_BYTES) -> bytes:
    """Decompress the body of a request.

    Args:
        body: the body.
        encoding: the content-encoding header.
        max_bytes: the limit of the size.

    Raises:
        Refusal: the encoding is unknown, or the body is damaged or too large.
    """
    if encoding.lower() == "identity":
        return body
    if encoding.lower() not in ("gzip", "deflate"):
        message = f"the content-encoding is {encoding!r:.60}. Use gzip, deflate, or none."
        raise Refusal(415, "unsupported_encoding", message)
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)  # detects which of the two it is
    try:
        decoded = unpacker.decompress(body, max_bytes + 1)
    except zlib.error as error:
        raise Refusal(400, "invalid_encoding", f"the body can't be decompressed: {error}") from None
    if len(decoded) > max_bytes:
        raise Refusal(413, "request_too_large", f"the decompressed body is larger than {max_bytes:,} bytes")
    if not unpacker.eof or unpacker.unused_data:
        raise Refusal(400, "invalid_encoding", "the compressed body is truncated, or more follows it")
    return decoded


async def _receive_part(receive: Callable[[], Awaitable[Any]]) -> Any:
    try:
        async with asyncio.timeout(_CHUNK_TIMEOUT_S):  # cheaper than anyio's, and every call needs it
            return await receive()
    except TimeoutError:
        message = f"no further part of the body arrived in {_CHUNK_TIMEOUT_S:g} s"
        raise Refusal(408, "request_timeout", message) from None


@dataclass(frozen=True)
class Question:
    """A request to a provider.

    Attributes:
        provider: the provider.
        method: GET or POST.
        path: the path below the provider's address, such as "chat/completions".
        query: the query without secrets.
        content_type: the type of the body.
        body: the body.
        origin: the case and evaluator that ask, as the client names them.
        is_counted: whether the client counts the usage itself.
    """

    provider: GatewayProvider
    method: str
    path: str
    query: str
    content_type: str
    body: bytes = field(repr=False)
    origin: CallOrigin = _NO_ORIGIN
    is_counted: bool = False

    @cached_property
    def data(self) -> Mapping[str, Any] | None:
        """The body as a JSON object, whatever type its header names: a provider may read it too. None if it is none.

        Raises:
            Refusal: the header names JSON, but the body is not valid JSON, or not an object.
        """
        if self.method == "GET":
            return None
        try:
            data = from_json(self.body)
            problem = "" if isinstance(data, dict) else "not a JSON object"
        except ValueError as error:
            data, problem = None, f"not valid JSON: {str(error)[:200]}"
        if problem and "json" in self.content_type.lower():
            raise Refusal(400, "invalid_json", f"the body is {problem}")
        return None if problem else data

    @cached_property
    def model(self) -> str:
        """The name of the model, from the body or the path; empty if neither has one."""
        model = (self.data or {}).get("model") if self.data is not None else self._find_model_in_form()
        if isinstance(model, str) and model:
            return model[:_LONGEST_NAME]
        match = _MODEL_IN_PATH.search(self.path)
        return unquote(match[1])[:_LONGEST_NAME] if match else ""

    def _find_model_in_form(self) -> str:
        """The field `model` of a form; empty without one, or if the form contains it with several values."""
        if _BOUNDARY.search(self.content_type) is None:
            return ""
        models = {match[1] for match in _MODEL_IN_FORM.finditer(self.body)}
        return models.pop().decode("utf-8", "replace") if len(models) == 1 else ""

    @property
    def is_free(self) -> bool:
        """Whether the call costs nothing: it reads a list, counts tokens, or is a moderation of OpenAI."""
        is_moderation = self.provider.name == "openai" and self.path == "moderations"
        return self.method == "GET" or is_moderation or self.path.endswith(("/count_tokens", ":countTokens"))

    @property
    def uses_tokens(self) -> bool:
        """Whether the call is billed by tokens. Images and audio may be billed by their number and length."""
        return _MEDIA.search(self.path) is None

    @property
    def is_stream(self) -> bool:
        """Whether the answer is requested as a stream."""
        return (self.data or {}).get("stream") is True or ":streamGenerateContent" in self.path

    @cached_property
    def digest(self) -> str:
        """The digest of the question: equal for equal questions, whatever the order of the fields in their bodies.

        For the answer in one piece it is the digest by which the SDK finds answers in the cache.
        """
        path = f"/{self.path}" + (f"?{self.query}" if self.query else "")
        if self.data is not None:
            return digest_question(self.provider.name, path, self.data)
        return digest_question(self.provider.name, f"{self.method} {path}", {"body": self._digest_bytes()})

    def _digest_bytes(self) -> str:
        body = self.body
        if match := _BOUNDARY.search(self.content_type):  # clients choose it at random
            body = body.replace(match[1].encode("latin-1"), b"boundary")
        return blake2b(body, digest_size=16).hexdigest()

    def estimate(self) -> Estimate:
        """The most that the call may use. A token has at least one byte."""
        data = self.data or {}
        if self.path.endswith(_NO_OUTPUT):
            return Estimate(len(self.body), 0)
        limits, copies = _read_numbers(data, _LIMITS), _read_numbers(data, _COPIES)
        for config in (data.get("generationConfig"), data.get("generation_config")):  # Gemini reads both spellings
            if isinstance(config, Mapping):
                limits += _read_numbers(config, _GEMINI_LIMITS)
                copies += _read_numbers(config, _GEMINI_COPIES)
        if not limits:
            return Estimate(len(self.body), None)
        return Estimate(len(self.body), max(0, *limits) * max((1, *copies)))


def _read_numbers(data: Mapping[str, Any], names: tuple[str, ...]) -> list[int]:
    values = (data.get(name) for name in names)
    return [min(value, _MOST_TOKENS) for value in values if isinstance(value, int) and not isinstance(value, bool)]


def read_origin(headers: Mapping[str, str]) -> CallOrigin:
    """What the headers of a request name as its origin: suite, case and evaluator, encoded as in URLs, and trial."""
    repeat = headers.get(REPEAT, "")
    return CallOrigin(
        _read_name(headers, CASE),
        int(repeat) if repeat.isascii() and repeat.isdigit() and len(repeat) < 7 else 0,
        _read_name(headers, EVALUATOR),
        _read_name(headers, SUITE),
    )


def _read_name(headers: Mapping[str, str], header: str) -> str:
    return unquote(headers.get(header, ""))[:_LONGEST_NAME]


def remove_key(query: str) -> str:
    """The query without parameters that contain a key; other parameters stay as they were sent."""
    if not query:
        return ""
    parts = [part for part in query.split("&") if part.partition("=")[0].lower() not in _SECRET_PARAMETERS]
    return "&".join(parts)


def find_token(headers: Mapping[str, str], query: str) -> str:
    """The token of a request, where clients of the providers put their key; empty without one."""
    authorization = headers.get("authorization", "")
    if authorization[:7].lower() == "bearer ":
        return authorization[7:].strip()
    for name in ("x-api-key", "api-key", "x-goog-api-key"):
        if token := headers.get(name):
            return token
    return next((value for name, value in parse_qsl(query, max_num_fields=100) if name == "key"), "")
