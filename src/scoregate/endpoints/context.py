"""The environment variables of an endpoint, and error messages that do not show their values."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import NoReturn
from urllib.parse import quote

from scoregate.errors import EndpointError
from scoregate.store.secret_references import REFERENCE

_SHORTEST_SECRET = 4  # a shorter one would also hide parts of ordinary words
_MOST_INSPECTED, _SHOWN = 4_000, 300


class SecretMask:
    """Replaces secrets in messages."""

    def __init__(self) -> None:
        self._hidden: dict[str, str] = {}
        self._pattern: re.Pattern[str] | None = None

    def hide(self, secret: str, instead: str = "***") -> None:
        """Replace a secret from now on, also in its encoded forms."""
        secret = secret.strip()
        if len(secret) >= _SHORTEST_SECRET and secret not in self._hidden:
            # # A URL or JSON in an answer has it in another form.
            forms = {secret, quote(secret), quote(secret, safe=""), json.dumps(secret)[1:-1]}
            self._hidden |= dict.fromkeys(forms, instead)
            # The longest first: one secret may be the beginning of another.
            self._pattern = re.compile("|".join(map(re.escape, sorted(self._hidden, key=len, reverse=True))))

    @property
    def longest(self) -> int:
        """The length of the longest secret; 0 if there is none."""
        return max(map(len, self._hidden), default=0)

    def mask(self, text: str) -> str:
        """The text without secrets."""
        return text if self._pattern is None else self._pattern.sub(lambda match: self._hidden[match[0]], text)


class EndpointContext:
    """The environment and the errors of one endpoint.

    Args:
        title: the name in messages.
        where: the address in messages, without secrets.
        environment: the variables; default: those of this process.
        secrets: shared by the addresses of one endpoint.
    """

    def __init__(
        self,
        title: str,
        where: str,
        *,
        environment: Mapping[str, str] | None = None,
        secrets: SecretMask | None = None,
    ) -> None:
        self.title, self.where = title, where
        self._environment = os.environ if environment is None else environment
        self._secrets = secrets or SecretMask()
        self.hide = self._secrets.hide

    def at(self, where: str) -> EndpointContext:
        """The same endpoint at another address."""
        return EndpointContext(self.title, where, environment=self._environment, secrets=self._secrets)

    def fill(self, text: str) -> str:
        """The text with the values of its variables.

        Raises:
            EndpointError: a variable is not set, or empty.
        """
        return REFERENCE.sub(lambda match: self._value(match[1]), text) if "${" in text else text

    def sanitize(self, text: str | bytes) -> str:
        """The beginning of an untrusted text on one line, without secrets."""
        start = text[:_MOST_INSPECTED]
        start = start.decode("utf-8", "replace") if isinstance(start, bytes) else start
        if len(text) > _MOST_INSPECTED:  # the cut may be inside a secret, which would no longer be recognized
            start = start[: -self._secrets.longest or None]  # up to -0 would be empty
        short = " ".join(self._secrets.mask(start).split())
        return short if len(short) <= _SHOWN and len(text) <= _MOST_INSPECTED else f"{short[:_SHOWN]}…"

    def fail(
        self,
        what: str,
        *,
        kind: str = "unexpected_error",
        body: str | bytes | None = None,
        status: int | None = None,
        advice: str = "",
    ) -> EndpointError:
        """An error; `body` is the response."""
        quoted = "" if body is None else f": {self.sanitize(body) or '(nothing)'}"
        where = f"{self.title}: {self.where}" if self.where and self.where != self.title else self.title
        return EndpointError(f"{where}: {self._secrets.mask(what)}{quoted}", advice=advice, kind=kind, status=status)

    def misconfigured(self, what: str, advice: str = "") -> NoReturn:
        """Raise an error for an invalid definition.

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
