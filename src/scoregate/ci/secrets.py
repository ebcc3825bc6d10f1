"""Take known secrets out of what we write and print."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping

_MARKS = ("KEY", "TOKEN", "SECRET", "PASSWORD")
_SHORTEST = 8
_MASK = b"***"


def secret_values(environ: Mapping[str, str]) -> set[str]:
    """The values of variables whose names say that they are secret; short ones are words, not secrets."""
    return {
        value
        for name, value in environ.items()
        if len(value) >= _SHORTEST and any(mark in name.upper() for mark in _MARKS)
    }


def redactor(secrets: Iterable[str]) -> Callable[[bytes], bytes]:
    """A function that replaces the secrets, as they stand and as JSON writes them, by three stars."""
    forms = {form for secret in secrets for form in _forms(secret)}
    ordered = sorted(forms, key=len, reverse=True)

    def redact(data: bytes) -> bytes:
        for form in ordered:
            if form in data:
                data = data.replace(form, _MASK)
        return data

    return redact


def _forms(secret: str) -> Iterable[bytes]:
    lines = [line for line in secret.splitlines() if len(line) >= _SHORTEST]
    for text in {secret, *lines}:
        yield text.encode("utf-8", "surrogateescape")
        yield json.dumps(text)[1:-1].encode()
        yield json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "surrogateescape")
