"""Stored endpoints: the system under test, how to call it, and where the output is in its responses."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, AwareDatetime, ConfigDict, Field, model_validator

from scoregate.kernel.types.text import replace_surrogates
from scoregate.store.kinds import Kind
from scoregate.store.review_records import Item
from scoregate.store.secret_references import check_secret, check_secrets, check_url_secrets
from scoregate.store.toml import TOML, Document, Text

Secret = Annotated[str, AfterValidator(check_secret)]
Address = Annotated[str, AfterValidator(check_url_secrets)]
Values = Annotated[dict[str, str], AfterValidator(check_secrets)]
_MCP_FIELDS = ("command", "env", "tool", "model")
_REQUIRED_FIELDS = {"REST": ("url",), "WebSocket": ("url",), "SDK": ("function",), "MCP": ("command", "url")}


def _to_toml_body(value: Any) -> Any:
    """A JSON body as TOML. TOML has no null; the template `{{ none }}` gives one."""
    if isinstance(value, dict):
        return check_secrets({name: _to_toml_body(each) for name, each in value.items()})
    if isinstance(value, list):
        return [_to_toml_body(each) for each in value]
    if isinstance(value, str):
        return replace_surrogates(value)
    return "{{ none }}" if value is None else value


class _SecretItem(Item):
    """An item whose validation errors do not contain its values."""

    model_config = ConfigDict(hide_input_in_errors=True)


class BearerToken(_SecretItem):
    """A token in the header `Authorization`."""

    type: Literal["bearer_token"]
    token: Secret = Field(min_length=1)


class ApiKey(_SecretItem):
    """A key in a header, or in the parameter `query` of the URL."""

    type: Literal["api_key"]
    key: Secret = Field(min_length=1)
    header: str = "X-API-Key"
    query: str = ""


class ClientCredentials(_SecretItem):
    """OAuth 2.0 client credentials. They are sent in the form or, with `basic`, in a header."""

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
    """An endpoint. `${NAME}` in its texts means an environment variable. Secrets are only given this way.

    Attributes:
        function: the function as "module:function", for connection type SDK.
        command: the program of an MCP server and its arguments; the URL of a running one is in `url`.
        env: the variables of the command, besides those that programs need.
        tool: the tool of an MCP server that gets the message; `model`: the model that answers with its tools instead.
        max_steps: the most tool calls of the model.
        request_mapping: the request body; its texts are Jinja templates. A text is the whole body. None: the input and
            the conversation.
        response_mapping: a JSONPath or Jinja template for each field. None: fields named `output`, `conversation_id` …
        auth_token: short form of `auth` with type bearer_token.
        timeout_seconds: limit for one message, in seconds.
        retries: retries of one message after transient errors.
        max_concurrency: the number of messages at the same time.
    """

    model_config = ConfigDict(hide_input_in_errors=True)
    always_written: ClassVar[frozenset[str]] = frozenset({"connection_type"})

    name: Text = ""
    id: str = Field(default="", max_length=200)
    description: Text = ""
    connection_type: Literal["REST", "WebSocket", "SDK", "MCP"] = "REST"
    url: Address = ""
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "POST"
    endpoint_path: str = ""
    function: str = ""
    command: tuple[Text, ...] = ()
    env: Values = Field(default_factory=dict)
    tool: str = ""
    model: str = ""
    max_steps: int = Field(default=20, ge=1, le=1000)
    request_headers: Values = Field(default_factory=dict)
    query_params: Values = Field(default_factory=dict)
    request_mapping: Annotated[dict[str, Any] | Text, AfterValidator(_to_toml_body)] | None = None
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
        """The name of the endpoint in records and messages."""
        return self.name or self.id or self.url or self.function or " ".join(self.command)

    @model_validator(mode="after")
    def _check_fields(self) -> StoredEndpoint:
        if self.connection_type != "MCP" and (given := [name for name in _MCP_FIELDS if getattr(self, name)]):
            raise ValueError(f'{given[0]} is a field of endpoints with connection_type = "MCP"')
        needed = _REQUIRED_FIELDS[self.connection_type]
        if sum(bool(getattr(self, name)) for name in needed) != 1:
            raise ValueError(f"an endpoint of type {self.connection_type} needs {' or '.join(needed)}")
        if self.tool and self.model:
            raise ValueError("tool and model exclude each other: a model chooses its tools itself")
        if self.auth is not None and self.auth_token:
            raise ValueError("auth and auth_token exclude each other")
        return self


ENDPOINTS = Kind("endpoints", StoredEndpoint, TOML, ("endpoint",))
