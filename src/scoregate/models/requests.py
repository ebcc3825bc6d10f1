"""Requests of chat completions, in the form that a model supports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from scoregate.errors import MalformedAnswer, RefusedSchema
from scoregate.models.calls import Answer, Call, ModelResponse
from scoregate.models.gateway import origin_headers
from scoregate.models.http_clients import get_async_client, get_client
from scoregate.models.providers import ModelTarget
from scoregate.models.structured_output import (
    ModelCapabilities,
    SchemaMode,
    add_schema,
    build_repair_messages,
    downgrade,
    get_capabilities,
    is_complete,
    learn_ignored_schema,
    parse_choice,
    schema_parameters,
    strict_schema,
)

if TYPE_CHECKING:
    from pydantic import BaseModel

    from scoregate.models.calls import Mode

PATH = "/chat/completions"
# Makes the openai package return the raw response; `with_raw_response` sends the same header.
RAW = {"X-Stainless-Raw-Response": "true"}


@dataclass(frozen=True, slots=True)
class Request:
    """A question to a target; with a schema, the answer must be an instance of it."""

    target: ModelTarget
    messages: tuple[Mapping[str, Any], ...]
    parameters: Mapping[str, Any]
    schema: type[BaseModel] | None = None

    @property
    def question(self) -> dict[str, Any]:
        """The parameters that determine the answer, in the same form for every model."""
        schema = None if self.schema is None else strict_schema(self.schema)
        return {"model": self.target.model, "messages": self.messages, "schema": schema, **self.parameters}

    def body(self, capabilities: ModelCapabilities) -> dict[str, Any]:
        """Build the body of the request.

        Args:
            capabilities: what the model supports.

        Raises:
            RefusedSchema: there is a schema, and the server has refused every form of it.
        """
        body: dict[str, Any] = {"model": self.target.model, **capabilities.adapt_parameters(self.parameters)}
        if self.schema is None:
            return {**body, "messages": list(self.messages)}
        if capabilities.schema_mode is None:
            raise RefusedSchema(
                f"{self.target.name} takes neither a JSON schema, nor tools, nor JSON mode",
                advice="Use a model that can give structured answers.",
            )
        schema = strict_schema(self.schema)
        messages = (
            add_schema(self.messages, schema)
            if capabilities.schema_mode is SchemaMode.JSON_OBJECT
            else list(self.messages)
        )
        return {
            **body,
            "messages": messages,
            **schema_parameters(capabilities.schema_mode, self.schema.__name__, schema),
        }

    def build_repair(self, answer: Answer, problem: str) -> Request | None:
        """Build a request that asks to repair a malformed answer; None if that does not help."""
        if self.schema is None:
            return None
        try:
            choice = parse_choice(answer.data)
        except MalformedAnswer:
            return self  # there is no text to repair, so the question is asked again
        if choice.finish_reason == "length":
            return None
        messages = build_repair_messages(self.messages, choice.text, problem=problem, schema=strict_schema(self.schema))
        return replace(self, messages=tuple(messages))


class Sender:
    """Sends one request, each time in the form that the model is known to support."""

    def __init__(self, request: Request) -> None:
        self.request, self._target = request, request.target
        self._used = ModelCapabilities()

    def build_call(self, mode: Mode) -> Call:
        """Build the call that sends the request."""
        target = self._target
        return Call(
            provider=target.provider,
            address=target.base_url,
            path=PATH,
            question=self.request.question,
            send=self._a_send if mode.is_async else self._send,
            prepare=partial(get_async_client if mode.is_async else get_client, target),
            adapt=self._adapt,
            is_cacheable=partial(is_complete, schema=self.request.schema),
        )

    def learn(self, malformed: Answer) -> None:
        """Send later requests in another form, if a malformed answer shows that the model never saw the schema."""
        if self.request.schema is not None:
            learn_ignored_schema(self._target, used=self._used, data=malformed.data, schema=self.request.schema)

    def _send(self) -> ModelResponse:
        return _read_response(get_client(self._target).post(PATH, **self._request_arguments()))

    async def _a_send(self) -> ModelResponse:
        return _read_response(await get_async_client(self._target).post(PATH, **self._request_arguments()))

    def _adapt(self, error: BaseException) -> bool:
        is_refusal = getattr(error, "status_code", None) in (400, 422, 501)
        return is_refusal and downgrade(self._target, used=self._used, error=error)

    def _request_arguments(self) -> dict[str, Any]:
        # Kept, since another call may change what is known before the answer arrives.
        self._used = get_capabilities(self._target)
        return {
            "cast_to": object,
            "body": self.request.body(self._used),
            "options": {"headers": {**RAW, **origin_headers(self._target.base_url)}},
        }


def _read_response(response: Any) -> ModelResponse:
    return ModelResponse(response.headers, response.content)
