"""Endpoints: the system under test."""

from __future__ import annotations

import time
from typing import Any, ClassVar

from pydantic import ConfigDict, Field

from scoregate.entities.base import StoredEntity, build_document
from scoregate.enums import ConnectionType
from scoregate.errors import EndpointError, EntityError
from scoregate.store import ENDPOINTS, StoredEndpoint

_TEST = "This is a test, answer shortly"


class Endpoint(StoredEntity):
    """An endpoint. `StoredEndpoint` describes the fields and their defaults.

    `${NAME}` in a text is replaced by the environment variable NAME. Use it for secrets, which are never stored. `auth`
    and `auth_token` are not in `to_dict` and in printed text.
    """

    model_config = ConfigDict(hide_input_in_errors=True)
    kind = ENDPOINTS
    push_required: ClassVar[tuple[str, ...]] = ("name", "connection_type")

    description: str | None = None
    connection_type: ConnectionType | None = None
    url: str | None = None
    method: str | None = None
    endpoint_path: str | None = None
    function: str | None = None
    command: list[str] | None = None
    env: dict[str, str] | None = None
    tool: str | None = None
    model: str | None = None
    max_steps: int | None = None
    request_headers: dict[str, str] | None = None
    query_params: dict[str, str] | None = None
    request_mapping: dict[str, Any] | str | None = None
    response_mapping: dict[str, str] | None = None
    system_prompt: str | None = None
    auth: dict[str, Any] | None = Field(default=None, exclude=True, repr=False)
    auth_token: str | None = Field(default=None, exclude=True, repr=False)
    timeout_seconds: float | None = None
    retries: int | None = None
    requests_per_minute: float | None = None
    max_concurrency: int | None = None
    project_id: str | None = None

    @property
    def definition(self) -> StoredEndpoint:
        """The checked definition.

        Raises:
            EntityError: a field is missing or invalid, or contains a secret.
        """
        self._check_required()
        return build_document(ENDPOINTS, {**self._fields(), "id": self.id or ""}, None)  # type: ignore[no-any-return]

    def invoke(
        self,
        input: str,  # noqa: A002
        conversation_id: str | None = None,
        session_id: str | None = None,
    ) -> dict[str, Any]:
        """Send a message and wait for the reply.

        Args:
            input: the message.
            conversation_id: the id of an existing conversation.
            session_id: another name of `conversation_id`.

        Returns:
            `output`, `conversation_id`, `context`, `metadata`, `tool_calls` and `execution_time` in milliseconds.

        Raises:
            EndpointError: there is no usable reply.
            EntityError: the definition is invalid.
        """
        from scoregate.endpoints import invoke

        definition, started = self.definition, time.perf_counter()
        reply = invoke(definition, input, conversation_id or session_id)
        return {**reply, "execution_time": (time.perf_counter() - started) * 1000}

    def test(self) -> dict[str, Any]:
        """Send a short message, as `invoke`.

        Raises:
            EntityError: the endpoint does not answer.
        """
        try:
            return self.invoke(_TEST)
        except EndpointError as error:
            raise EntityError(f"Endpoint is not answering: {error.message}", advice=error.advice) from error
