"""Test cases as the engine takes them: hashed, repeated, described."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any
from zlib import crc32

from scoregate.core.figures import is_whole
from scoregate.core.naming import LONGEST_NAME, case_name
from scoregate.core.suite import Case, Description
from scoregate.core.wire import dump, ordered, plain
from scoregate.engine.environment import Selection
from scoregate.errors import NotRecordable
from scoregate.testing.models import TestCaseConfig
from scoregate.testing.util import md5

_CONFIG = "test_case_config"
_PLAIN = TestCaseConfig()
Hasher = Callable[[Any], object]


def hasher(test_case_hash: Sequence[str] | Hasher | None) -> Hasher:
    """What gives a case's hash: the given function, the named fields, or the case's own `hash`.

    Raises:
        TypeError: it is none of these.
    """
    if test_case_hash is None:
        return _own_hash
    if callable(test_case_hash):
        return test_case_hash
    names = [test_case_hash] if isinstance(test_case_hash, str) else list(test_case_hash)
    if not names:
        raise TypeError("it names no field")
    return lambda value: md5("".join(dump(ordered(_field(value, name))).decode() for name in names))


def _own_hash(value: Any) -> object:
    own = getattr(value, "hash", None)
    if not callable(own):
        raise TypeError(f"a {type(value).__name__} has no method `hash`; add one, or name fields in `test_case_hash`")
    return own()


def _field(value: Any, name: str) -> Any:
    try:
        return value[name] if isinstance(value, Mapping) else getattr(value, name)
    except (KeyError, AttributeError):
        raise TypeError(f"it has no field {name!r}, which `test_case_hash` names") from None


def read_cases(values: Iterable[Any], hash_of: Hasher, selection: Selection) -> tuple[list[Case], list[str]]:
    """The cases of a suite, and what is wrong with those that cannot be run."""
    cases: dict[str, Case] = {}
    problems: list[str] = []
    for number, value in enumerate(values, start=1):
        try:
            case = Case(checked_hash(hash_of(value)), value, _repeats(value, selection))
        except Exception as error:  # the user's hash may raise anything
            problems.append(f"test case {number}: {error}")
            continue
        if case.hash in cases:
            problems.append(
                f"test case {number} is left out: duplicate hash {case.hash!r}, which an earlier case has; if they "
                "differ, let the hash tell them apart"
            )
        else:
            cases[case.hash] = case
    return list(cases.values()), problems


def checked_hash(value: object) -> str:
    """The hash.

    Raises:
        TypeError: it is no string, or empty.
    """
    if not isinstance(value, str) or not value:
        raise TypeError(f"its hash must be a string that is not empty, not {value!r}")
    return value


def _config(value: Any) -> TestCaseConfig:
    config = value.get(_CONFIG) if isinstance(value, Mapping) else getattr(value, _CONFIG, None)
    return config if isinstance(config, TestCaseConfig) else _PLAIN


def _repeats(value: Any, selection: Selection) -> int:
    config = _config(value)
    asked = config.repeat_num_times
    if asked is not None and not is_whole(asked, 1):
        raise ValueError(f"its repeat_num_times must be a whole number of at least 1, not {asked!r}")
    if isinstance(config.tags, str) or not all(isinstance(tag, str) for tag in config.tags):
        raise TypeError(f"its tags must be a list of strings, not {config.tags!r}")
    if not isinstance(config.cluster, str | None):
        raise TypeError(f"its cluster must be a string, not {config.cluster!r}")
    return asked or selection.repeats or 1


def describe(case: Case) -> Description:
    """The case as the record tells it. What has no JSON form stands as its type, in angle brackets.

    Raises:
        NotRecordable: it holds itself, or is too deep.
    """
    config = _config(case.value)
    raw = _body(case.value)
    try:
        body = plain(ordered(raw))
    except ValueError as error:
        raise NotRecordable("the test case", error) from None
    written = dump(body)
    name = case_name(case.hash, raw) or written.decode()[:LONGEST_NAME]
    return Description(name, body, f"{crc32(written):08x}", tuple(config.tags), config.cluster)


def _body(value: Any) -> Any:
    serialize = getattr(value, "serialize", None)
    body = serialize() if callable(serialize) else value
    if dataclasses.is_dataclass(body) and not isinstance(body, type):
        return {name: getattr(body, name) for name in _fields(type(body))}
    if hasattr(body, "model_dump"):
        return body.model_dump(exclude={_CONFIG})
    if isinstance(body, Mapping):
        return {name: item for name, item in body.items() if name != _CONFIG}
    own = getattr(body, "__dict__", None) if body is value else None
    return body if own is None else {k: v for k, v in own.items() if not k.startswith("_") and k != _CONFIG}


@cache
def _fields(cls: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(cls) if field.name != _CONFIG)
