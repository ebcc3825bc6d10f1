"""The settings of the gateway."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from scoregate.kernel.types.declarations.declaration import TEXT, Feature, Kind, Option, Setting
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


def _describe_answers(gateway: GatewaySettings) -> Mapping[str, object] | None:
    """What answers the calls of models: other servers, or recorded calls."""
    replays = gateway.mode is GatewayMode.REPLAY
    is_other = gateway.mode is not GatewayMode.OFF and (gateway.providers or replays)
    return {"providers": gateway.providers, "replays": replays} if is_other else None


_TABLE: Kind[Any] = Kind("", None, choices=GatewayMode, table=GatewaySettings, short="mode")
GATEWAY: Setting[GatewaySettings] = Setting(
    "gateway",
    _TABLE,
    _TABLE.unset,
    """The gateway between suites and the providers of models: `off`, `on`, `record` or `replay`, or a table
    `[gateway]`. Suites get a token of the run instead of the keys; calls in any language are limited, counted and
    priced.
    """,
    "Models",
    "text, or a table",
    after="prices",
    condition=_describe_answers,
    option=Option("model", "Send calls of models through a local proxy that keeps the keys; record or replay them."),
)
CASSETTES = Setting(
    "cassettes",
    TEXT,
    ".scoregate/cassettes",
    """Where the gateway records calls and replays them from: a folder; `artifact`, to keep them with the run; or
    `none`.
    """,
    "Models",
    after="gateway",
    is_path=True,
    option=Option("model", "Where the gateway records calls and replays them from.", "[artifact|none|DIR]"),
)
FEATURE = Feature(
    "gateway",
    settings=(GATEWAY, CASSETTES),
    hides_keys=lambda settings: GATEWAY.of(settings).mode is not GatewayMode.OFF,
    replays_calls=lambda settings: GATEWAY.of(settings).mode is GatewayMode.REPLAY,
)
