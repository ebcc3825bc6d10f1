"""The text of an output that a scorer compares, or that a judge reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from scoregate.kernel.types.json_io import to_plain, to_text

EXPECTED = "the expected output"
WHOLE = "$"
_MOST_KEYS, _LONGEST_KEY = 8, 40
_USUAL = ("answer", "output", "text", "content", "response", "result", "message")
_DEEPEST = 5


def check_field(field: str | None, scorer: str) -> str | None:
    """The path of a field as it was given.

    Raises:
        TypeError: it is no text, or empty.
    """
    if field is not None and (not isinstance(field, str) or not field):
        raise TypeError(f'{scorer}: field must be a path such as "answer" or "messages.-1.content", not {field!r:.60}')
    return field


def read_output(output: Any, field: str | None, scorer: str, *, media: bool = False, what: str = "the output") -> str:
    """The text that a scorer looks at: the output, or its field.

    Args:
        output: the output of the task.
        field: the path of the field; None is the whole output, which must be a text then.
        scorer: the scorer, for the error: "contains".
        media: whether an image, a recording, or a list of texts with some of them counts as a text.
        what: what the output is, for the error.

    Raises:
        ValueError: there is no such field, or it is not a text.
    """
    if field is None:
        return read_text(output, scorer, what, media=media)
    return read_text(select_field(output, field, what), scorer, what, media=media, field=field)


def select_field(value: Any, path: str, what: str = "the output") -> Any:
    """The part of a value at a path such as "result.text" or "messages.-1.content", as plain data.

    "$" is the JSON of the whole value. A text is read as JSON.

    Args:
        value: a value that has a JSON form.
        path: keys and numbers of items, separated by dots. A key may itself have dots.
        what: what the value is, for the error.

    Raises:
        ValueError: there is no such part.
    """
    if path == WHOLE:
        return to_text(value)
    if isinstance(value, str):
        try:
            plain = json.loads(value)
        except (ValueError, RecursionError):
            raise ValueError(f"{what} is a text and not JSON, so it has no field {path!r}") from None
    else:
        plain = to_plain(value)
    parts = path.split(".")
    while parts:
        key, count = _find_key(plain, parts)
        if not count:
            above = ".".join(path.split(".")[: -len(parts)])
            place = f"field {above!r} of {what}" if above else what
            raise ValueError(f"{place} has no field {parts[0]!r}: it is {_describe(plain)}")
        plain, parts = plain[key], parts[count:]
    return plain


def _find_key(plain: Any, parts: list[str]) -> tuple[Any, int]:
    """The key of an object or the number of an item that a path begins with, and how many parts it takes up."""
    if isinstance(plain, dict):
        # The longest first: a key may have dots itself.
        counts = (count for count in range(len(parts), 0, -1) if ".".join(parts[:count]) in plain)
        count = next(counts, 0)
        return ".".join(parts[:count]), count
    if isinstance(plain, list) and parts[0].removeprefix("-").isdecimal():
        index = int(parts[0])
        return index, int(-len(plain) <= index < len(plain))
    return None, 0


def read_text(value: Any, scorer: str, what: str, *, media: bool = False, field: str = "") -> str:
    """A text, or a number as a text.

    The JSON of another value has more than its text: `contains` would find names of fields, and texts of other fields.

    Args:
        value: the value.
        scorer: the scorer, for the error.
        what: what the value is, for the error.
        media: whether an image, a recording, or a list of texts with some of them counts as a text.
        field: the path at which the value is, for the error.

    Raises:
        ValueError: it is neither.
    """
    if isinstance(value, str):
        return to_text(value)
    plain = to_plain(value)
    if isinstance(plain, str):  # such as a date
        return plain
    if isinstance(plain, int | float) and not isinstance(plain, bool):
        return to_text(value)
    if media and _is_media(plain):
        return to_text(value)
    if not media:
        refuse_media(plain, scorer, what)
    place = f"the field {field!r} of {what}" if field else what
    advice = "; give each case a text as `expected`" if what == EXPECTED else _advise(plain, scorer, field)
    raise ValueError(f"{scorer} needs a text, and {place} is {_describe(plain)}{advice}")


def read_json_text(value: Any, scorer: str) -> str:
    """An output as a text: a text as it is, anything else as JSON. For scorers whose subject is the whole output.

    Raises:
        ValueError: it has an image or a recording.
    """
    text = to_text(value)
    # The search in the text is quick, and most outputs have no media.
    if '"media":"sha256:' in text and not isinstance(value, str):
        refuse_media(to_plain(value), scorer, "the output")
    return text


def refuse_media(plain: Any, scorer: str, what: str) -> None:
    """Refuse images and recordings. Their JSON has a digest, which any text may be found in by chance.

    Raises:
        ValueError: the plain data has one.
    """
    from scoregate.kernel.types.media import find_references

    for reference in find_references(plain):
        kind = "an image" if reference.type.startswith("image/") else "a recording"
        raise ValueError(f"{what} has {kind}, and {scorer} compares texts; equals() or a judge can compare it")


def _is_media(plain: Any) -> bool:
    from scoregate.kernel.types.media import read_reference

    if not isinstance(plain, list):
        return read_reference(plain) is not None
    are_media = [read_reference(each) is not None for each in plain]
    return any(are_media) and all(found or isinstance(each, str) for found, each in zip(are_media, plain, strict=True))


def _describe(plain: Any) -> str:
    if isinstance(plain, dict):
        keys = [repr(key[:_LONGEST_KEY]) for key in list(plain)[:_MOST_KEYS]]
        more = " and more" if len(plain) > _MOST_KEYS else ""
        return f"an object with {', '.join(keys)}{more}" if keys else "an object without fields"
    if isinstance(plain, list):
        return f"a list of {len(plain):,} items"
    return "None" if plain is None else f"{plain!r:.60}"


def _advise(plain: Any, scorer: str, field: str) -> str:
    if not isinstance(plain, dict | list):
        return ""
    path = ".".join((*filter(None, [field]), *(_find_text(plain, 0) or ("answer",))))
    return f'. Name the text, as in {scorer}(…, field="{path}"); field="$" is the whole output as JSON'


def _find_text(plain: Any, depth: int) -> tuple[str, ...]:
    """The path of a text that may be the answer; empty if there is none."""
    if depth > _DEEPEST or not isinstance(plain, dict | list):
        return ()
    if isinstance(plain, list):
        items = [("-1", plain[-1])] if plain else []
    else:
        items = [(key, plain[key]) for key in dict.fromkeys((*filter(plain.__contains__, _USUAL), *plain))]
    for key, item in items:
        if isinstance(item, str):
            return (key,)
    return next(((key, *path) for key, item in items if (path := _find_text(item, depth + 1))), ())


def add_field(parameters: Mapping[str, Any], field: str | None, scorer: str) -> dict[str, Any]:
    """The parameters of a check with its field. Without one they stay as they were, and so does the fingerprint."""
    checked = check_field(field, scorer)
    return dict(parameters) if checked is None else {**parameters, "field": checked}
