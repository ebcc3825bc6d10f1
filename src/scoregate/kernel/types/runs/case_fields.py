"""The fields of cases that settings name, such as `language` or `metadata.topic`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TAG_FIELDS = ("tag", "tags")
_PARTS = ("metadata", "input")


def find_field(body: Any, field: str) -> Any:
    """The value that the input of a case, its `metadata` or its `input` has under a name; None without one.

    Args:
        body: the input of the case.
        field: the name of the field; dots lead into nested fields.
    """
    if not _is_mapping(body):
        return None
    if field in body:
        return body[field]
    if "." in field:
        first, _, rest = field.partition(".")
        return find_field(body.get(first), rest)
    for name in _PARTS:
        if _is_mapping(inner := body.get(name)) and field in inner:
            return inner[field]
    return None


def _is_mapping(value: Any) -> bool:
    return type(value) is dict or isinstance(value, Mapping)  # the check of an abstract class takes longer
