"""Values as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Literal

from pydantic_core import PydanticSerializationError, from_json, to_json

MAX_EVENT_BYTES = 8 * 1024 * 1024
# The parser accepts at most 200 levels and numbers of at most 4,300 digits. A line that may be near these limits is
# parsed before it is written, in a few more levels, since a record nests cases deeper.
_MANY_BRACKETS = 180
_LONG_VALUE = 4_000
_MARGIN = 8
_LARGEST_SIMPLE = 2**53
_ATOMS = (str, int, float, type(None))
_MEDIA = "scoregate.kernel.types.media"  # most processes never import it
_NUMPY = "numpy"
_LARGEST_ARRAY = 1_000_000


def dump(value: object) -> bytes:
    """Compact JSON of a value with a JSON form.

    These are dataclasses, pydantic models, dates, enums, UUIDs, sets, media, and numbers and arrays of numpy.

    A lone surrogate has no UTF-8 form; it is written as the text of its escape.

    Raises:
        PydanticSerializationError: a part of the value has no JSON form.
    """
    return _serialize(value, None)


def dump_event(event: object) -> bytes:
    """The line of an event log that `event_json.parse_event` reads.

    Raises:
        ValueError: a field has no JSON form, is nested too deeply, or is a number with too many digits.
    """
    try:
        line = to_json(event, inf_nan_mode="null", bytes_mode="base64")
    except PydanticSerializationError:
        line = _serialize(event, None)
    if len(line) <= 2 * _MANY_BRACKETS:
        return line
    if len(line) > _LONG_VALUE or line.count(b"[") + line.count(b"{") > _MANY_BRACKETS:
        try:
            from_json(b"[" * _MARGIN + line + b"]" * _MARGIN)
        except ValueError as error:
            raise ValueError(f"its JSON could not be read back: {error}") from None
    return line


def dump_plain(value: object) -> bytes:
    """Compact JSON of any value; parts without a JSON form become the name of their type in angle brackets."""
    return _serialize(value, _describe_type)


def _describe_type(part: Any) -> Any:
    return _convert(part) if _is_convertible(part) else f"<{type(part).__qualname__}>"


def _is_convertible(part: Any) -> bool:
    """Whether a value is a kind of media, or a number or array of numpy."""
    module = type(part).__module__
    return module == _MEDIA or (module == _NUMPY and hasattr(part, "tolist") and part.size <= _LARGEST_ARRAY)


def _convert(part: Any) -> Any:
    return part.reference() if type(part).__module__ == _MEDIA else part.tolist()


def to_plain(value: object) -> Any:
    """Convert any value to JSON types; parts without a JSON form become the name of their type in angle brackets."""
    return from_json(dump_plain(value))


def to_stable_plain(value: object) -> Any:
    """Convert any value like `to_plain`, with the items of sets in the same order in every process.

    Texts, whole numbers and flat dicts of them are not converted, which takes a fifth of the time (measured).
    """
    if type(value) is not dict:
        return value if _is_simple(value) else to_plain(sort_sets(value))
    for name, item in value.items():
        if not (type(name) is str and name.isascii() and _is_simple(item)):
            return to_plain(sort_sets(value))
    return dict(value)


def _is_simple(value: object) -> bool:
    """Whether a value is its own form as JSON; a text with other characters may contain a lone surrogate."""
    if type(value) is str:
        return value.isascii()
    if type(value) is int:
        return -_LARGEST_SIMPLE < value < _LARGEST_SIMPLE
    return value is None or type(value) is bool


def to_plain_with_nan(value: object) -> Any:
    """Convert any value like `to_plain`, but NaN and infinite numbers stay floats and don't become None."""
    return from_json(_serialize(value, _describe_type, numbers="constants"))


def to_text(value: Any) -> str:
    """A value as prompts and reports show it: a string as it is, anything else as JSON.

    Names of images and audio are left out, because those of files may give a right answer away.
    """
    if isinstance(value, str):
        return value
    plain = to_plain(value)
    text = dump(plain)
    if b'"media":"sha256:' in text:
        from scoregate.kernel.types.media import without_names

        text = dump(without_names(plain))
    return text.decode()


def sort_sets(value: Any, depth: int = 0) -> Any:
    """Replace sets by sorted lists, so that every process writes equal values in the same way.

    Args:
        value: any value; values nested deeper than 180 levels stay unchanged.
        depth: the level of the value in the outermost value.
    """
    if isinstance(value, _ATOMS) or depth > _MANY_BRACKETS:
        return value
    if isinstance(value, set | frozenset):
        return sorted((sort_sets(item, depth + 1) for item in value), key=dump_plain)
    if isinstance(value, Mapping):
        return {name: sort_sets(item, depth + 1) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [sort_sets(item, depth + 1) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: sort_sets(getattr(value, field.name), depth + 1) for field in fields(value)}
    return value


def _serialize(
    value: object, fallback: Callable[[Any], Any] | None, *, numbers: Literal["null", "constants"] = "null"
) -> bytes:
    try:
        return to_json(value, inf_nan_mode=numbers, bytes_mode="base64", fallback=fallback)
    except PydanticSerializationError as error:
        # Media and numbers of NumPy are rare, so the slower fallback in Python is only set after a failure.
        if fallback is None and (_MEDIA in str(error) or f"'{_NUMPY}." in str(error)):
            return _serialize(value, _require_convertible, numbers=numbers)
        if "surrogates not allowed" not in str(error):
            raise
    return to_json(_escape_surrogates(value), inf_nan_mode=numbers, bytes_mode="base64", fallback=fallback)


def _require_convertible(part: Any) -> Any:
    if _is_convertible(part):
        return _convert(part)
    raise PydanticSerializationError(f"Unable to serialize unknown type: {type(part)}")


def _escape_surrogates(value: Any) -> Any:
    """Replace every lone surrogate by the text of its escape, such as `\\ud800`."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, Mapping):
        return {_escape_surrogates(name): _escape_surrogates(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_escape_surrogates(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _escape_surrogates(getattr(value, field.name)) for field in fields(value)}
    return value


def list_texts(value: object) -> Iterator[str]:
    """The texts in a value of JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from list_texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from list_texts(each)
