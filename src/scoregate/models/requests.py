"""One question to a model as a request, in the manner that this model takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from scoregate.errors import MalformedAnswer, RefusedSchema
from scoregate.models.calls import Answer, Call, Sent
from scoregate.models.http_clients import async_client_of, client_of
from scoregate.models.providers import Target
from scoregate.models.structured_output import (
    ModelCapabilities,
    Way,
    asked_for,
    choice_of,
    is_whole,
    learn,
    manners_of,
    repair,
    schema_of,
    with_schema,
)

if TYPE_CHECKING:
    from pydantic import BaseModel

    from scoregate.models.calls import Mode

PATH = "/chat/completions"
# The package's own word for "give me the response as it came"; `with_raw_response` sends the same.
RAW = {"X-Stainless-Raw-Response": "true"}


@dataclass(frozen=True, slots=True)
class Request:
    """A question to a target; `schema` is what the answer must be an instance of."""

    target: Target
    messages: tuple[Mapping[str, Any], ...]
    parameters: Mapping[str, Any]
    schema: type[BaseModel] | None = None

    @property
    def question(self) -> dict[str, Any]:
        """What is asked, however it is sent."""
        schema = None if self.schema is None else schema_of(self.schema)
        return {"model": self.target.model, "messages": self.messages, "schema": schema, **self.parameters}

    def body(self, manners: ModelCapabilities) -> dict[str, Any]:
        """What is sent.

        Raises:
            RefusedSchema: there is a schema, and the server has refused every way to tell it.
        """
        body: dict[str, Any] = {"model": self.target.model, **manners.applied(self.parameters)}
        if self.schema is None:
            return {**body, "messages": list(self.messages)}
        if manners.way is None:
            raise RefusedSchema(
                f"{self.target.name} takes neither a JSON schema, nor tools, nor JSON mode",
                advice="Use a model that can give structured answers.",
            )
        schema = schema_of(self.schema)
        messages = with_schema(self.messages, schema) if manners.way is Way.JSON_OBJECT else list(self.messages)
        return {**body, "messages": messages, **asked_for(manners.way, self.schema.__name__, schema)}

    def repaired(self, answer: Answer, problem: str) -> Request | None:
        """The question again, with what was wrong; None where that does not help."""
        if self.schema is None:
            return None
        try:
            choice = choice_of(answer.table)
        except MalformedAnswer:
            return self
        if choice.finish_reason == "length":
            return None
        messages = repair(self.messages, choice.text, problem=problem, schema=schema_of(self.schema))
        return replace(self, messages=tuple(messages))


def call_of(request: Request, mode: Mode) -> Call:
    """The request as a call."""
    sender, target = _Sender(request), request.target
    return Call(
        provider=target.provider,
        address=target.base_url,
        path=PATH,
        question=request.question,
        send=sender.a_send if mode.is_async else sender.send,
        adapt=sender.adapt,
        keeps=partial(is_whole, schema=request.schema),
    )


class _Sender:
    """Sends one request, each time in the manner that is then known."""

    def __init__(self, request: Request) -> None:
        self._request, self._target = request, request.target
        self._used = ModelCapabilities()

    def send(self) -> Sent:
        return _sent(client_of(self._target).post(PATH, **self._arguments()))

    async def a_send(self) -> Sent:
        return _sent(await async_client_of(self._target).post(PATH, **self._arguments()))

    def adapt(self, error: BaseException) -> bool:
        is_refusal = getattr(error, "status_code", None) in (400, 422, 501)
        return is_refusal and learn(self._target.base_url, self._target.model, used=self._used, told=error)

    def _arguments(self) -> dict[str, Any]:
        self._used = manners_of(self._target.base_url, self._target.model)
        return {"cast_to": object, "body": self._request.body(self._used), "options": {"headers": RAW}}


def _sent(response: Any) -> Sent:
    return Sent(response.headers, response.content)
