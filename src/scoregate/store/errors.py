"""What is wrong with something that people wrote or git merged, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from scoregate.errors import StoreError
from scoregate.store.kinds import Kind, T


def suggestion(model: type[BaseModel], where: Sequence[int | str]) -> str:
    """The field whose name is most like the last part of `where`, as the end of a sentence; empty if none is.

    Args:
        model: of the whole document. where: the way to the field that it has not, as pydantic tells it.
    """
    *way, name = where
    models: list[type[BaseModel]] = [model]
    for part in way:
        inner = [field.annotation for each in models if (field := each.model_fields.get(str(part)))]
        models = [found for annotation in inner for found in _models(annotation)] or models
    near = get_close_matches(str(name), [field for each in models for field in each.model_fields], 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)


N = TypeVar("N")
_MOST = 10
_CONFLICT = "git left a merge conflict here"
_MARKERS = (b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>")
_TWICE = "says otherwise than"
SECRET = "secret_in_clear"


def marker(line: bytes) -> str | None:
    """What to say of a line that git wrote into a file that it could not merge."""
    return f"{_CONFLICT} ({line[:7].decode()})" if line.startswith(_MARKERS) else None


def said(error: ValidationError) -> str:
    """All that is wrong with one item, on one line; what people or models wrote is bounded and quoted."""
    return "; ".join(told(*each) for each in details(error))


def details(error: ValidationError, model: type[BaseModel] | None = None) -> Iterable[tuple[str, str]]:
    """For each thing that is wrong: where in the item, empty where in all of it, and what.

    Args:
        model: of the item, to tell which field may have been meant.
    """
    for found in error.errors(include_url=False, include_context=False):
        where = ".".join(str(part) for part in found["loc"])
        if found["type"] == "extra_forbidden":
            yield where, f"there is no such field{suggestion(model, found['loc']) if model else ''}"
        elif found["type"] in ("missing", "json_invalid"):
            yield where, "is missing" if found["type"] == "missing" else found["msg"]
        elif found["type"] == SECRET:
            yield where, found["msg"]
        else:
            what = (
                found["msg"]
                .removeprefix("Value error, ")
                .replace("Input should", "must")
                .replace("valid tuple", "list")
            )
            yield where, f"{what}, not {found['input']!r:.60}" if where else what


def told(where: str, what: str) -> str:
    """One thing that is wrong, and where in the item."""
    return f"{where:.80}: {what}" if where else what


def checked(found: Iterable[tuple[int, T | str | None]], kind: Kind[T], *, place: Callable[[int], str]) -> Iterator[T]:
    """The items among what was found; of two that say the same, the first.

    Args:
        found: by number of line or row: an item, what is wrong with it, or nothing. place: how people call a number.

    Raises:
        StoreError: all that is wrong, once the items have been given.
    """
    yield from sound(_distinct(found, kind, place), place=place)


def sound(found: Iterable[tuple[N, Any | str | None]], *, place: Callable[[N], str]) -> Iterator[Any]:
    """As `checked`, for anything but text, found anywhere; two may say the same."""
    problems: list[str] = []
    for number, item in found:
        if isinstance(item, str):
            problems.append(f"{place(number)}: {item}")
        elif item is not None:
            yield item
        if len(problems) == _MOST:
            break
    if problems:
        raise StoreError("\n".join(problems), advice=_advice(problems))


def contradiction(first: str, key: object) -> str:
    """What to say of an item that says otherwise than the one at the place `first`, which has the same key."""
    return f"{_TWICE} {first}, and both are {str(key)!r:.60}"


def _distinct(
    found: Iterable[tuple[int, T | str | None]], kind: Kind[T], place: Callable[[int], str]
) -> Iterator[tuple[int, T | str | None]]:
    """The same, without items that say again what was said, and with a word where one says otherwise."""
    seen: dict[Any, tuple[int, T]] = {}
    for number, item in found:
        if kind.key is None or item is None or isinstance(item, str):
            yield number, item
            continue
        first, other = seen.setdefault(key := kind.key(item), (number, item))
        if other is item:
            yield number, item
        elif not kind.same(item, other):
            yield number, contradiction(place(first), key)


def _advice(problems: Iterable[str]) -> str:
    """What to do about them."""
    joined = "\n".join(problems)
    if _CONFLICT in joined:
        return "Keep the lines of both sides, delete the lines that git put between them, then `git add` the file."
    if _TWICE in joined:
        return "Two branches changed the same thing: keep the line that is right, delete the other."
    return "Correct these places by hand."
