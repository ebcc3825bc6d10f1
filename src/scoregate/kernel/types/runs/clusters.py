"""Clusters by the setting `cluster`: a field of cases, or a pattern of their names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from scoregate.kernel.types.identity import bounded_name
from scoregate.kernel.types.json_io import dump

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


PART = "{cluster}"
# Fields whose value often names what several cases share, without `_id` and the like at their end.
_LIKELY = frozenset(
    {"article", "book", "chapter", "chat", "cluster", "conv", "conversation", "dialog", "dialogue", "doc", "document"}
    | {"email", "episode", "file", "filename", "group", "page", "paper", "paragraph", "parent", "passage", "repo"}
    | {"repository", "section", "session", "source", "story", "thread", "ticket", "url", "webpage"}
)
_SUFFIXES = ("_id", "_ids", "_name", "_path", "_uri", "_url", "_title", "_key", "_hash", "_no", "_number", "id", "s")


def check_cluster(setting: str) -> str:
    """The setting as it is.

    Raises:
        ValueError: it is neither a field nor a pattern with one `{cluster}`.
    """
    if setting in TAG_FIELDS:
        raise ValueError("can't be the tags, since a case may have several; name a field, or a pattern of names")
    if ("{" in setting or "*" in setting) and (setting.count(PART) != 1 or not setting.replace(PART, "").strip("*")):
        raise ValueError(f'must be a field such as "document", or a pattern with one {PART} such as "*[{PART}-*]"')
    return setting


@lru_cache(maxsize=1024)
def may_name_cluster(field: str) -> bool:
    """Whether the name of a field says that its value may name a cluster, such as `document_id` or `threadId`."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", field.rpartition(".")[2]).replace("-", "_").replace(" ", "_").lower()
    return name in _LIKELY or any(name.removesuffix(suffix) in _LIKELY for suffix in _SUFFIXES)


def find_cluster(setting: str, case_input: object, name: str, case: str) -> str | None:
    """The cluster of a case by the setting; None if it has none, so that the case is a cluster of its own.

    Args:
        setting: a field of the input or its metadata, as for slices; or a pattern of the name, else of the hash.
        case_input: the input of the case.
        name: the name of the case.
        case: the hash of the case.
    """
    if PART not in setting:
        return _name_value(find_field(case_input, setting))
    return match_name(name, setting) or match_name(case, setting)


def match_name(name: str, pattern: str) -> str | None:
    """The text in the place of `{cluster}`, as long as possible; None if the name doesn't match the pattern.

    A `*` is any text, as short as possible. The time is linear in the length of the name, which isn't trusted.
    """
    first, before, after, last = _split_pattern(pattern)
    if not (name.startswith(first) and name.endswith(last)):
        return None
    start, end = len(first), len(name) - len(last)
    for text in before:
        if (found := name.find(text, start)) < 0:
            return None
        start = found + len(text)
    for text in after:
        if (end := name.rfind(text, start, end)) < 0:
            return None
    return bounded_name(name[start:end]) or None if start < end else None


@lru_cache(maxsize=256)
def _split_pattern(pattern: str) -> tuple[str, list[str], list[str], str]:
    """The text at the start, the texts up to the cluster, those from the end back to it, and the text at the end."""
    left, _, right = pattern.partition(PART)
    first, *before = left.split("*")
    *after, last = right.split("*")
    return first, before, after[::-1], last


def _name_value(value: Any) -> str | None:
    """A value as the name of a cluster; long values that differ stay different."""
    if value is None or value in ("", [], {}):
        return None
    text = value if isinstance(value, str) else dump(value).decode()
    return bounded_name(" ".join(text.split())) or None
