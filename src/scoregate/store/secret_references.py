"""Secrets in stored documents. A document never contains a secret, only the name of its environment variable."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from pydantic_core import PydanticCustomError

from scoregate.store.errors import SECRET

REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_TEMPLATE = re.compile(r"\{\{[^\"'{}]{1,100}\}\}")
_REFUSED = "is a secret in clear text: put it in an environment variable NAME, and write ${NAME} in its place"
# A word of 12 or more characters next to a reference may be the secret itself; "Bearer" and "sk-" are not.
_LONGEST_WORD = re.compile(r"[^\s:]{12}")
_SECRET_NAME = re.compile(r"authorization|cookie|api[-_]?key|access[-_]?key|token|secret|password|credential", re.I)
_TOKEN_COUNT_NAME = re.compile(r"tokens(?:$|[-_])|token[-_]?(?:limit|count|budget|type)", re.I)


def is_secret_name(name: str) -> bool:
    """Whether a header or field with this name is likely a secret; `max_tokens` is not."""
    return bool(_SECRET_NAME.search(_TOKEN_COUNT_NAME.sub("", name)))


def find_references(value: Any) -> Iterator[str]:
    """The names of the variables that the strings in a value refer to with `${NAME}`."""
    if isinstance(value, str):
        yield from REFERENCE.findall(value)
    elif isinstance(value, Mapping):
        yield from (name for each in value.values() for name in find_references(each))
    elif isinstance(value, Iterable):
        yield from (name for each in value for name in find_references(each))


def check_secret(text: str, name: str = "") -> str:
    """The value of a secret field, if it refers to a variable.

    Args:
        text: the value.
        name: the name of the field, for the message.

    Raises:
        PydanticCustomError: the value contains a secret.
    """
    rest = REFERENCE.sub(" ", _TEMPLATE.sub(" ", text))
    if text and (rest == text or _LONGEST_WORD.search(rest)):
        raise PydanticCustomError(SECRET, f"{name:.60} {_REFUSED}".strip())
    return text


def check_secrets(values: dict[str, Any]) -> dict[str, Any]:
    """Headers, parameters or body fields, if those with the name of a secret contain only references.

    Raises:
        PydanticCustomError: one contains a secret.
    """
    for name, value in values.items():
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, str) and is_secret_name(name):
                check_secret(each, name)
    return values


def check_url_secrets(url: str) -> str:
    """A URL, if its password and its secret parameters are references.

    Raises:
        PydanticCustomError: one is a secret.
        ValueError: it is not a valid URL.
    """
    # A URL can't contain "${NAME}", so references have another form while it is parsed.
    parts = urlsplit(REFERENCE.sub(lambda match: f"ref--{match[1]}", url))
    check_secrets({name: _restore_references(value) for name, value in parse_qsl(parts.query)})
    check_secret(_restore_references(parts.password or ""))
    return url


def _restore_references(text: str) -> str:
    return re.sub(r"ref--([A-Za-z0-9_]+)", r"${\1}", text)
