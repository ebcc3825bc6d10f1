"""Answers for Autoblocks' platform, whose addresses the SDKs know by heart: from our own book, and to nobody else."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import parse_qs, unquote

from pydantic_core import from_json

from scoregate.ci.listen.ports import Book
from scoregate.core.events import ErrorInfo
from scoregate.core.override import EvaluationOverride
from scoregate.errors import ScoregateError

_MOST_OVERRIDES = 1_000
_MOST_PEOPLE = 100
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Request:
    """A request. `path` is what follows `/cloud`, as it was sent, with its percent signs; `query` without the `?`."""

    method: str
    path: str
    query: str = ""
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Review:
    """People are asked to judge the outputs of a run; `run` is the id that the SDK was given when it started."""

    run: str
    name: str
    assignees: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Crowned:
    """A case has its first champion: there was none that its output had to beat."""

    suite: str
    case: str


@dataclass(frozen=True, slots=True)
class Failure:
    """Something of ours that did not work, so that the suite cannot be trusted."""

    suite: str
    error: ErrorInfo


@dataclass(frozen=True, slots=True)
class Answer:
    """What the SDK gets, and what else is to be told of the request. `unknown`: nobody here knows such a request."""

    status: int = 200
    content: Any = "ok"
    unknown: bool = False
    review: Review | None = None
    failure: Failure | None = None
    crowned: Crowned | None = None


Names: TypeAlias = Mapping[str, str]
_Handler: TypeAlias = Callable[[Request, Names, Book], Answer]


def answer(request: Request, book: Book) -> Answer:
    """What the platform would have answered, as far as suites need it. Blocks as the book does."""
    for method, pattern, handler in _ROUTES:
        if method == request.method and (found := pattern.fullmatch(request.path)):
            names = {name: unquote(value) for name, value in found.groupdict().items()}
            return _careful(handler, request, names, book=book)
    return Answer(
        404, {"error": "scoregate keeps calls to Autoblocks on this machine, and does not know this one"}, True
    )


def _careful(handler: _Handler, request: Request, names: Names, *, book: Book) -> Answer:
    try:
        return handler(request, names, book)
    except ScoregateError as error:
        told = ErrorInfo(type(error).__name__, error.message, advice=error.advice)
        return Answer(500, {"error": error.message}, failure=Failure(names.get("suite", ""), told))
    except ValueError as error:
        return Answer(400, {"error": str(error)})


def _champion(_: Request, names: Names, book: Book) -> Answer:
    known = book.champion(names["suite"], names["case"])
    return Answer(content={} if known is None else {"baseline": known})


def _crown(request: Request, names: Names, book: Book) -> Answer:
    text = _fields(request).get("baseline")
    if not isinstance(text, str):
        raise ValueError("a baseline must be a string")
    suite, case = names["suite"], names["case"]
    first = book.champion(suite, case) is None
    book.crown(suite, case, text)
    return Answer(content={}, crowned=Crowned(suite, case) if first else None)


def _overrides(request: Request, names: Names, book: Book) -> Answer:
    count = min(int(parse_qs(request.query).get("n", ["0"])[0]), _MOST_OVERRIDES)
    return Answer(content=[_override(each) for each in book.overrides(names["evaluator"], count)])


def _override(override: EvaluationOverride) -> dict[str, Any]:
    return {
        "originalScore": override.original_score,
        "overrideScore": override.override_score,
        "inputFields": _plain(override.input_fields, id="id", name="name", value="value"),
        "outputFields": _plain(override.output_fields, id="id", name="name", value="value"),
        "comments": _plain(override.comments, fieldId="field_id", quotedText="quoted_text", commentText="comment_text"),
    }


def _plain(parts: Sequence[object], **names: str) -> list[dict[str, Any]]:
    return [{theirs: getattr(part, ours) for theirs, ours in names.items()} for part in parts]


def _review(request: Request, names: Names, _: Book) -> Answer:
    fields = _fields(request)
    given = fields.get("assigneeEmailAddress")
    people = tuple(str(each)[:_LONGEST_NAME] for each in (given if isinstance(given, list) else [given]) if each)
    name = str(fields.get("name") or "human review")[:_LONGEST_NAME]
    return Answer(review=Review(names["run"], name, people[:_MOST_PEOPLE]))


def _taken(*_: object) -> Answer:
    """Traces of what a suite did: no record has a place for them."""
    return Answer(content={})


def _fields(request: Request) -> Mapping[str, Any]:
    fields = from_json(request.body)
    if not isinstance(fields, dict):
        raise ValueError("the body must be a JSON object")
    return fields


_CASE = r"/test-suites/(?P<suite>.+)/test-cases/(?P<case>.+)/baseline"
_EVALUATOR = r"/test-suites/(?P<suite>.+)/evaluators/(?P<evaluator>.+)/human-reviews"
_RUN = r"/testing/(?:local|ci)/runs/(?P<run>[^/]+)"
_ROUTES: tuple[tuple[str, re.Pattern[str], _Handler], ...] = (
    ("GET", re.compile(_CASE), _champion),
    ("POST", re.compile(_CASE), _crown),
    ("GET", re.compile(_EVALUATOR), _overrides),
    ("POST", re.compile(rf"{_RUN}/human-review-job"), _review),
    ("POST", re.compile(rf"{_RUN}/results/[^/]+/events"), _taken),
    ("POST", re.compile(r"/ingest/?"), _taken),
)
