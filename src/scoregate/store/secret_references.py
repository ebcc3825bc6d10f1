"""Secrets in what is stored: none stands there itself, only the name of the environment variable that holds it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from pydantic_core import PydanticCustomError

from scoregate.store.errors import SECRET

REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_TEMPLATE = re.compile(r"\{\{[^\"'{}]{1,100}\}\}")
_REFUSED = "is a secret in clear: put it in an environment variable, and write ${NAME}, the name of that, in its place"
# Longer words beside a reference than these may be the secret itself; "Bearer" and "sk-" are not.
_LONGEST_WORD = re.compile(r"[^\s:]{12}")
_SECRET_NAME = re.compile(r"authorization|cookie|api[-_]?key|access[-_]?key|token|secret|password|credential", re.I)
_NUMBERS_OF_TOKENS = re.compile(r"tokens(?:$|[-_])|token[-_]?(?:limit|count|budget|type)", re.I)


def names_secret(name: str) -> bool:
    """Whether what is called so, a header or a field, is likely a secret; `max_tokens` is none."""
    return bool(_SECRET_NAME.search(_NUMBERS_OF_TOKENS.sub("", name)))


def references(value: Any) -> Iterator[str]:
    """The names of the variables that the strings in a value refer to, as `${NAME}`."""
    if isinstance(value, str):
        yield from REFERENCE.findall(value)
    elif isinstance(value, Mapping):
        yield from (name for each in value.values() for name in references(each))
    elif isinstance(value, Iterable):
        yield from (name for each in value for name in references(each))


def without_secret(text: str, name: str = "") -> str:
    """The text of a place that is for secrets, and may have a name.

    Raises:
        PydanticCustomError: there is a secret in it, rather than a reference to a variable.
    """
    rest = REFERENCE.sub(" ", _TEMPLATE.sub(" ", text))
    if text and (rest == text or _LONGEST_WORD.search(rest)):
        raise PydanticCustomError(SECRET, f"{name:.60} {_REFUSED}".strip())
    return text


def without_secrets(values: dict[str, Any]) -> dict[str, Any]:
    """Headers, parameters or fields of a body; those with the name of a secret hold references alone.

    Raises:
        PydanticCustomError: one does not.
    """
    for name, value in values.items():
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, str) and names_secret(name):
                without_secret(each, name)
    return values


def address_without_secret(url: str) -> str:
    """An address; the password in it, and the secrets among its parameters, are references.

    Raises:
        PydanticCustomError: one is not. ValueError: it is no address.
    """
    parts = urlsplit(REFERENCE.sub(lambda found: f"ref--{found[1]}", url))
    without_secrets({name: _restored(value) for name, value in parse_qsl(parts.query)})
    without_secret(_restored(parts.password or ""))
    return url


def _restored(text: str) -> str:
    return re.sub(r"ref--([A-Za-z0-9_]+)", r"${\1}", text)
