"""One request of a wrapped client: what is sent, and what the client's user gets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from scoregate.core.evaluation import Usage
from scoregate.models.account import Account
from scoregate.models.asking import ask
from scoregate.models.calls import Answer, Call, Sent
from scoregate.models.origins import origin_of
from scoregate.models.requests import RAW
from scoregate.models.restoring import CHAT, is_answer, received, restored
from scoregate.models.steps import Mode, Steps
from scoregate.models.streams import Tally, asks_for_usage, with_usage

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
        tally = Tally(partial(self._count, Account.here()), self.model, hides=self._adds_usage)
        look = tally.a_sync if mode.is_async else tally.sync
        stream._iterator = look(stream._iterator)
        return stream

    def _count(self, account: Account, usage: Usage) -> None:
        account.charge(account.priced(usage, provider=self._origin.name, model=self.model))
