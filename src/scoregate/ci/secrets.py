"""Take known secrets out of what we write and print."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

_MARKS = ("KEY", "TOKEN", "SECRET", "PASSWORD")
# Ours, whose name only sounds like one.
_NO_SECRETS = ("INPUT_KEY", "SCOREGATE_KEY")
_SHORTEST = 8
_SHORTEST_MASKED = 4
_MOST_LEARNT = 200
_MASK = b"***"
_ADD_MASK = re.compile(r"\s*::add-mask::(.+)|.*##\[add-mask\](.+)", re.IGNORECASE)
_CODES = {"%0D": "\r", "%0A": "\n", "%25": "%"}


def secret_values(environ: Mapping[str, str]) -> set[str]:
    """The values of variables whose names say that they are secret; short ones are words, not secrets."""
    return {
        value
        for name, value in environ.items()
        if len(value) >= _SHORTEST and name not in _NO_SECRETS and any(mark in name.upper() for mark in _MARKS)
    }


class Redactor:
    """Replaces secrets, as they stand and as JSON writes them, by three stars; it may learn more of them."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets = set(secrets)
        self._learnt = 0
        self._forms = _ordered(self._secrets)

    def __call__(self, data: bytes) -> bytes:
        """Bytes without any of them."""
        for form in self._forms:
            if form in data:
                data = data.replace(form, _MASK)
        return data

    def text(self, text: str) -> str:
        """Text without any of them."""
        data = text.encode("utf-8", "surrogatepass")
        clean = self(data)
        return text if clean is data else clean.decode("utf-8", "surrogatepass")

    def listen(self, line: str) -> None:
        """Learn what a script declares secret by printing `::add-mask::VALUE`; that command itself is not passed on."""
        found = _ADD_MASK.fullmatch(line) if "add-mask" in line.lower() else None
        if found is None or self._learnt >= _MOST_LEARNT:
            return
        secret = _unescaped(found[1] or found[2]).strip()
        if len(secret) >= _SHORTEST_MASKED:
            self._learnt += 1
            self._secrets.add(secret)
            self._forms = _ordered(self._secrets)


def _unescaped(text: str) -> str:
    for code, character in _CODES.items():
        text = text.replace(code, character)
    return text


def _ordered(secrets: Iterable[str]) -> list[bytes]:
    return sorted({form for secret in secrets for form in _forms(secret)}, key=len, reverse=True)


def _forms(secret: str) -> Iterable[bytes]:
    lines = [line for line in secret.splitlines() if len(line) >= _SHORTEST]
    for text in {secret, *lines}:
        yield text.encode("utf-8", "surrogateescape")
        yield json.dumps(text)[1:-1].encode()
        yield json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "surrogateescape")
