"""The environment variables that an endpoint refers to, and how to say what went wrong without showing them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import NoReturn
from urllib.parse import quote

from scoregate.errors import EndpointError
from scoregate.store.references import REFERENCE

_LEAST_SECRET = 4
_LOOKED_AT, _SHOWN = 4_000, 300


class Secrets:
    """What no message may show, and what it shows instead."""

    def __init__(self) -> None:
        self._hidden: dict[str, str] = {}
        self._pattern: re.Pattern[str] | None = None

    def hide(self, secret: str, instead: str = "***") -> None:
        """From now on, show something else in the place of this, however it is written."""
        secret = secret.strip()
        if len(secret) >= _LEAST_SECRET and secret not in self._hidden:
            forms = {secret, quote(secret), quote(secret, safe=""), json.dumps(secret)[1:-1]}
            self._hidden |= dict.fromkeys(forms, instead)
            self._pattern = re.compile("|".join(map(re.escape, sorted(self._hidden, key=len, reverse=True))))

    @property
    def longest(self) -> int:
        """How many characters the longest of them has; 0 where there are none."""
        return max(map(len, self._hidden), default=0)

    def bare(self, text: str) -> str:
        """The text without them."""
        return text if self._pattern is None else self._pattern.sub(lambda found: self._hidden[found[0]], text)


class Surroundings:
    """Of one endpoint.

    Args:
        title: what it is called in messages. where: its address as it is written, in which no secret stands.
        environment: the variables; those of this process if not given. secrets: those of the endpoint, where it has
            several addresses.
    """

    def __init__(
        self,
        title: str,
        where: str,
        *,
        environment: Mapping[str, str] | None = None,
        secrets: Secrets | None = None,
    ) -> None:
        self.title, self.where = title, where
        self._environment = os.environ if environment is None else environment
        self._secrets = secrets or Secrets()
        self.hide = self._secrets.hide

    def at(self, where: str) -> Surroundings:
        """The same at another address."""
        return Surroundings(self.title, where, environment=self._environment, secrets=self._secrets)

    def filled(self, text: str) -> str:
        """The text with the values of the variables that it refers to.

        Raises:
            EndpointError: a variable is not set, or empty.
        """
        return REFERENCE.sub(lambda found: self._value(found[1]), text) if "${" in text else text

    def shown(self, text: str | bytes) -> str:
        """The beginning of what anybody may have written, on one line, for a message; without secrets."""
        start = text[:_LOOKED_AT]
        start = start.decode("utf-8", "replace") if isinstance(start, bytes) else start
        if len(text) > _LOOKED_AT:  # what was cut may be a secret, which nobody would know by its beginning
            start = start[: -self._secrets.longest or None]
        short = " ".join(self._secrets.bare(start).split())
        return short if len(short) <= _SHOWN and len(text) <= _LOOKED_AT else f"{short[:_SHOWN]}…"

    def fail(
        self,
        what: str,
        *,
        kind: str = "unexpected_error",
        body: str | bytes | None = None,
        status: int | None = None,
        advice: str = "",
    ) -> EndpointError:
        """The error that says so; `body` is what came back."""
        told = "" if body is None else f": {self.shown(body) or '(nothing)'}"
        where = f"{self.title}: {self.where}" if self.where and self.where != self.title else self.title
        return EndpointError(f"{where}: {self._secrets.bare(what)}{told}", advice=advice, kind=kind, status=status)

    def misconfigured(self, what: str, advice: str = "") -> NoReturn:
        """Say that the endpoint cannot be called as it is defined.

        Raises:
            EndpointError: always.
        """
        raise self.fail(what, kind="configuration_error", advice=advice)

    def _value(self, name: str) -> str:
        value = self._environment.get(name, "")
        if not value:
            self.misconfigured(
                f"the environment variable {name}, which the endpoint refers to, is not set",
                f"Set {name}; in a workflow, pass the secret to the step as a variable of this name.",
            )
        self._secrets.hide(value, f"${{{name}}}")
        return value
