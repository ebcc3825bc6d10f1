"""Error messages for files that people edited or git merged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from scoregate.errors import StoreError
from scoregate.store.kinds import Kind, T


def suggest_field(model: type[BaseModel], where: Sequence[int | str]) -> str:
    """The most similar field name, as the end of a sentence; empty if no field is similar.

    Args:
        model: the class of the whole document.
        where: the path of the unknown field, as pydantic reports it.
    """
    *parents, name = where
    models: list[type[BaseModel]] = [model]
    for part in parents:
        inner = [field.annotation for each in models if (field := each.model_fields.get(str(part)))]
        models = [model_class for annotation in inner for model_class in _models(annotation)] or models
    near = get_close_matches(str(name), [field for each in models for field in each.model_fields], 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)


N = TypeVar("N")
_MAX_PROBLEMS = 10
_CONFLICT = "git left a merge conflict here"
_MARKERS = (b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>")
_CONTRADICTION = "differs from"
SECRET = "secret_in_clear"


def conflict_message(line: bytes) -> str | None:
    """The error message for a conflict marker of git; None for other lines."""
    return f"{_CONFLICT} ({line[:7].decode()})" if line.startswith(_MARKERS) else None


def error_message(error: ValidationError) -> str:
    """All errors of one item on one line. Values are quoted and truncated."""
    return "; ".join(located_message(*each) for each in error_details(error))


def error_details(error: ValidationError, model: type[BaseModel] | None = None) -> Iterable[tuple[str, str]]:
    """The field and the message of each error. The field is empty if the error is about the whole item.

    Args:
        error: the errors of one item.
        model: the class of the item, to suggest a field in place of an unknown one.
    """
    for detail in error.errors(include_url=False, include_context=False):
        where = ".".join(str(part) for part in detail["loc"])
        if detail["type"] == "extra_forbidden":
            yield where, f"there is no such field{suggest_field(model, detail['loc']) if model else ''}"
        elif detail["type"] in ("missing", "json_invalid"):
            yield where, "is missing" if detail["type"] == "missing" else detail["msg"]
        elif detail["type"] == SECRET:
            yield where, detail["msg"]
        else:
            what = (
                detail["msg"]
                .removeprefix("Value error, ")
                .replace("Input should", "must")
                .replace("valid tuple", "list")
            )
            yield where, f"{what}, not {detail['input']!r:.60}" if where else what


def located_message(where: str, what: str) -> str:
    """An error message with the field before it."""
    return f"{where:.80}: {what}" if where else what


def check_distinct_items(
    results: Iterable[tuple[int, T | str | None]], kind: Kind[T], *, place: Callable[[int], str]
) -> Iterator[T]:
    """Yield the valid items, without repetitions.

    Args:
        results: the number of each line or row, and its item, its error message, or None if it is empty.
        kind: the kind of the items.
        place: gives the name of a line or row for messages, such as "file.jsonl:3".

    Raises:
        StoreError: lists all errors, after the items. Two items with the same key and different content are an error.
    """

    def distinct() -> Iterator[tuple[int, T | str | None]]:
        seen: dict[Any, tuple[int, T]] = {}
        for number, item in results:
            if kind.item_key is None or item is None or isinstance(item, str):
                yield number, item
                continue
            first, other = seen.setdefault(key := kind.item_key(item), (number, item))
            if other is item:
                yield number, item
            elif not kind.is_same(item, other):
                yield number, contradiction_message(place(first), key)

    yield from check_items(distinct(), place=place)


def check_items(results: Iterable[tuple[N, Any | str | None]], *, place: Callable[[N], str]) -> Iterator[Any]:
    """Yield the valid items.

    Args:
        results: the place of each item, and the item, its error message, or None if it is empty.
        place: gives the name of a place for messages.

    Raises:
        StoreError: lists all errors, after the items.
    """
    problems: list[str] = []
    for number, item in results:
        if isinstance(item, str):
            problems.append(f"{place(number)}: {item}")
        elif item is not None:
            yield item
        if len(problems) == _MAX_PROBLEMS:
            break
    if problems:
        raise StoreError("\n".join(problems), advice=_advice("\n".join(problems)))


def contradiction_message(first: str, key: object) -> str:
    """The error message for an item with the same key as the item at the place `first`, but other content."""
    return f"{_CONTRADICTION} {first}, and both have the key {str(key)!r:.60}"


def _advice(problems: str) -> str:
    if _CONFLICT in problems:
        return "Keep the lines of both sides, delete the lines that git put between them, then `git add` the file."
    if _CONTRADICTION in problems:
        return "Two branches changed the same thing: keep the line that is right, delete the other."
    return "Correct these places by hand."
