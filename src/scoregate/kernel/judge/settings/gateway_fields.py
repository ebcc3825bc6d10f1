"""Settings of the model gateway."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import BeforeValidator, Field

from scoregate.kernel.types.declarations.fields import Table, Text


class GatewayMode(StrEnum):
    """Where suites' calls of models go.

    `off`: straight to the providers. `on`: through the gateway. `record`: also into cassettes. `replay`: answers come
    from cassettes alone.
    """

    OFF = "off"
    ON = "on"
    RECORD = "record"
    REPLAY = "replay"


# YAML reads a bare `off` as false and `on` as true.
_Mode = Annotated[
    GatewayMode,
    BeforeValidator(
        lambda value: (
            {False: "off", True: "on", "false": "off", "true": "on"}.get(value, value)
            if isinstance(value, bool | str)
            else value
        )
    ),
]


class GatewayProviderSettings(Table):
    """A provider with OpenAI's API. Suites find it in the variable `NAME_BASE_URL`."""

    base_url: Text
    """The address of its API, such as `https://models.example.com/v1`."""
    key_env: Text | None = None
    """The variable with the key. Without it: the provider needs none."""


class GatewaySettings(Table):
    """The gateway. `gateway = "on"` is short for a table with this `mode`."""

    mode: _Mode = GatewayMode.OFF
    """`on` sends suites' calls of models through a local proxy that keeps the keys. `record` also writes calls and
    answers to cassettes. `replay` answers from cassettes, without a key. `off` uses no gateway.
    """
    providers: Mapping[str, GatewayProviderSettings] = Field(default_factory=dict)
    """More providers: tables `[gateway.providers.NAME]`."""
