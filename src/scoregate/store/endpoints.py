"""Endpoints as they are kept: what is under test, how it is called, and where in its answers the output is."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, AwareDatetime, ConfigDict, Field, model_validator

from scoregate.core.text import replace_surrogates
from scoregate.store.kinds import Kind
from scoregate.store.review_records import Item
from scoregate.store.secret_references import address_without_secret, without_secret, without_secrets
from scoregate.store.toml import TOML, Document, Text

Secret = Annotated[str, AfterValidator(without_secret)]
Address = Annotated[str, AfterValidator(address_without_secret)]
Values = Annotated[dict[str, str], AfterValidator(without_secrets)]
_NEEDED = {"REST": "url", "WebSocket": "url", "SDK": "function"}


def _body(value: Any) -> Any:
    """JSON as TOML can hold it, which has no null: as the template that gives one."""
    if isinstance(value, dict):
        return without_secrets({name: _body(each) for name, each in value.items()})
    if isinstance(value, list):
        return [_body(each) for each in value]
    if isinstance(value, str):
        return replace_surrogates(value)
    return "{{ none }}" if value is None else value


class _Secretive(Item):
    """What shows no values in its errors."""

    model_config = ConfigDict(hide_input_in_errors=True)


class BearerToken(_Secretive):
    """A token in the header `Authorization`."""

    type: Literal["bearer_token"]
    token: Secret = Field(min_length=1)


class ApiKey(_Secretive):
    """A key in a header, or in the parameter `query` of the address."""

    type: Literal["api_key"]
    key: Secret = Field(min_length=1)
    header: str = "X-API-Key"
    query: str = ""


class ClientCredentials(_Secretive):
    """OAuth 2.0: a token that is fetched for an id and a secret, sent in the form or, with `basic`, in a header."""

    type: Literal["client_credentials"]
    token_url: Address = Field(min_length=1)
    client_id: str = Field(min_length=1)
    client_secret: Secret = Field(min_length=1)
    scopes: tuple[str, ...] = ()
    audience: str = ""
    basic: bool = False
    extra_payload: Values = Field(default_factory=dict)


Auth = Annotated[BearerToken | ApiKey | ClientCredentials, Field(discriminator="type")]


class StoredEndpoint(Document):
    """An endpoint. `${NAME}` in its texts stands for an environment variable; no secret stands in it itself.

    Attributes:
        function: of connection type SDK, as "module:function".
        request_mapping: the body, with Jinja in its texts; a text is a whole body. None: input and conversation.
        response_mapping: by field, a JSONPath or Jinja. None: `output`, `conversation_id` … as they are named.
        auth_token: short for `auth` of type bearer_token.
        timeout_seconds: of one message. retries: of one message, after failures that may pass.
        max_concurrency: messages under way at a time.
    """

    model_config = ConfigDict(hide_input_in_errors=True)
    shown: ClassVar[frozenset[str]] = frozenset({"connection_type"})

    name: Text = ""
    id: str = Field(default="", max_length=200)
    description: Text = ""
    connection_type: Literal["REST", "WebSocket", "SDK"] = "REST"
    url: Address = ""
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "POST"
    endpoint_path: str = ""
    function: str = ""
    request_headers: Values = Field(default_factory=dict)
    query_params: Values = Field(default_factory=dict)
    request_mapping: Annotated[dict[str, Any] | Text, AfterValidator(_body)] | None = None
    response_mapping: dict[str, Text] | None = None
    system_prompt: Text = ""
    auth: Auth | None = None
    auth_token: Secret = ""
    timeout_seconds: float = Field(default=30.0, gt=0, le=3600)
    retries: int = Field(default=3, ge=0, le=10)
    requests_per_minute: float | None = Field(default=None, gt=0)
    max_concurrency: int = Field(default=10, ge=1, le=1000)
    project_id: str = ""
    created_at: AwareDatetime | None = None

    @property
    def title(self) -> str:
        """What it is called in records and messages."""
        return self.name or self.id or self.url or self.function

    @model_validator(mode="after")
    def _whole(self) -> StoredEndpoint:
        needed = _NEEDED[self.connection_type]
        if not getattr(self, needed):
            raise ValueError(f"an endpoint of type {self.connection_type} needs {needed}")
        if self.auth is not None and self.auth_token:
            raise ValueError("auth and auth_token exclude each other")
        return self


ENDPOINTS = Kind("endpoints", StoredEndpoint, TOML, ("endpoint",))
