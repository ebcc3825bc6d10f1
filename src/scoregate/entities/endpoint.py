"""What is under test, as tests name it."""

from __future__ import annotations

import time
from typing import Any, ClassVar

from pydantic import ConfigDict, Field

from scoregate.entities.kept import KeptEntity
from scoregate.entities.made import made
from scoregate.enums import ConnectionType
from scoregate.errors import EndpointError, EntityError
from scoregate.store import ENDPOINTS, StoredEndpoint

_TEST = "This is a test, answer shortly"


class Endpoint(KeptEntity):
    """An endpoint; see `StoredEndpoint` for what its fields mean. What is not given is as by default there.

    `${NAME}` in its texts stands for an environment variable: secrets are given so, and never kept. `auth` and
    `auth_token` are not part of `to_dict` and of what is printed.
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
        """It, as it is opened.

        Raises:
            EntityError: it cannot be one: something is missing, or a secret stands in it.
        """
        self._check_required()
        return made(ENDPOINTS, {**self._fields(), "id": self.id or ""}, None)  # type: ignore[no-any-return]

    def invoke(self, input: str, conversation_id: str | None = None) -> dict[str, Any]:  # noqa: A002
        """Send it a message, and wait for the reply.

        Args:
            conversation_id: of a conversation that the other side knows.

        Returns:
            `output`, `conversation_id`, `context`, `metadata`, `tool_calls` and `execution_time` in milliseconds.

        Raises:
            EndpointError: no reply came that could be judged. EntityError: it cannot be called as it is defined.
        """
        from scoregate.endpoints import invoke

        definition, started = self.definition, time.perf_counter()
        reply = invoke(definition, input, conversation_id)
        return {**reply, "execution_time": (time.perf_counter() - started) * 1000}

    def test(self) -> dict[str, Any]:
        """Send it a short message, as `invoke`.

        Raises:
            EntityError: it does not answer, and why.
        """
        try:
            return self.invoke(_TEST)
        except EndpointError as error:
            raise EntityError(f"Endpoint is not answering: {error.message}", advice=error.advice) from error
