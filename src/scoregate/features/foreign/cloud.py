"""Answer requests for Autoblocks' platform, whose addresses are built into its SDKs. Nothing is sent there."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias
from urllib.parse import parse_qs, unquote

from pydantic_core import from_json

from scoregate.errors import ScoregateError
from scoregate.kernel.types.evaluation import EvaluationOverride
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.records import record

PREFIX = "/cloud"
_MOST_OVERRIDES = 1_000
_MOST_ASSIGNEES = 100
_LONGEST_NAME = 200


class BaselineLookup(Protocol):
    """Answers what the SDKs ask for: baseline outputs of battles, and people's overrides of judges.

    Its methods block, and may be called from several threads at once. Each raises `StoreError` if the store can't be
    read or written.
    """

    def baseline_output(self, suite: str, case: str) -> str | None:
        """The text that a new output of a case has to beat; None if there is none. A case is named by its hash."""

    def save_baseline_output(self, suite: str, case: str, output: str) -> None:
        """Save a text as the baseline output of later runs, unless they take it from the base run."""

    def overrides(self, evaluator: str, count: int) -> Sequence[EvaluationOverride]:
        """The newest overrides of an evaluator's scores, at most `count`, the newest first."""


@record
class PlatformRequest:
    """A request. `path` follows `/cloud` and is percent-encoded as it was sent; `query` is without the `?`."""

    method: str
    path: str
    query: str = ""
    body: bytes = b""


@record
class ReviewJob:
    """A request for a human review of a run; `run` is the id that the SDK got when it started."""

    run: str
    name: str
    assignees: tuple[str, ...] = ()


@record
class FirstBaseline:
    """A case got its first baseline output: there was none to beat."""

    suite: str
    case: str


@record
class Failure:
    """An internal failure, after which the results of the suite can't be trusted."""

    suite: str
    error: ErrorInfo


@record
class Answer:
    """The response to the SDK, and what the report shows of the request. `unknown`: no such request is known."""

    status: int = 200
    content: Any = "ok"
    unknown: bool = False
    review: ReviewJob | None = None
    failure: Failure | None = None
    first_baseline: FirstBaseline | None = None


Names: TypeAlias = Mapping[str, str]
_Handler: TypeAlias = Callable[[PlatformRequest, Names, BaselineLookup], Answer]


def answer(request: PlatformRequest, lookup: BaselineLookup) -> Answer:
    """Answer as the platform does, for the requests that suites need. It blocks as the lookup does."""
    for method, pattern, handler in _ROUTES:
        if method == request.method and (match := pattern.fullmatch(request.path)):
            names = {name: unquote(value) for name, value in match.groupdict().items()}
            try:
                return handler(request, names, lookup)
            except ScoregateError as error:
                info = ErrorInfo(type(error).__name__, error.message, advice=error.advice)
                return Answer(500, {"error": error.message}, failure=Failure(names.get("suite", ""), info))
            except ValueError as error:
                return Answer(400, {"error": str(error)})
    return Answer(404, {"error": "scoregate doesn't send calls to Autoblocks, and doesn't know this one"}, True)


def _get_baseline(_: PlatformRequest, names: Names, lookup: BaselineLookup) -> Answer:
    output = lookup.baseline_output(names["suite"], names["case"])
    return Answer(content={} if output is None else {"baseline": output})


def _set_baseline(request: PlatformRequest, names: Names, lookup: BaselineLookup) -> Answer:
    output = _fields(request).get("baseline")
    if not isinstance(output, str):
        raise ValueError("a baseline must be a string")
    suite, case = names["suite"], names["case"]
    is_first = lookup.baseline_output(suite, case) is None
    lookup.save_baseline_output(suite, case, output)
    return Answer(content={}, first_baseline=FirstBaseline(suite, case) if is_first else None)


def _list_overrides(request: PlatformRequest, names: Names, lookup: BaselineLookup) -> Answer:
    count = min(int(parse_qs(request.query).get("n", ["0"])[0]), _MOST_OVERRIDES)
    field = {"id": "id", "name": "name", "value": "value"}
    comment = {"fieldId": "field_id", "quotedText": "quoted_text", "commentText": "comment_text"}
    content = [
        {
            "originalScore": override.original_score,
            "overrideScore": override.override_score,
            "inputFields": _dump_parts(override.input_fields, field),
            "outputFields": _dump_parts(override.output_fields, field),
            "comments": _dump_parts(override.comments, comment),
        }
        for override in lookup.overrides(names["evaluator"], count)
    ]
    return Answer(content=content)


def _dump_parts(parts: Sequence[object], attributes: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{name: getattr(part, attribute) for name, attribute in attributes.items()} for part in parts]


def _create_review(request: PlatformRequest, names: Names, _: BaselineLookup) -> Answer:
    fields = _fields(request)
    value = fields.get("assigneeEmailAddress")
    assignees = tuple(str(each)[:_LONGEST_NAME] for each in (value if isinstance(value, list) else [value]) if each)
    name = str(fields.get("name") or "human review")[:_LONGEST_NAME]
    return Answer(review=ReviewJob(names["run"], name, assignees[:_MOST_ASSIGNEES]))


def _ignore(*_: object) -> Answer:
    """Ignore traces: the record of a run has no field for them."""
    return Answer(content={})


def _fields(request: PlatformRequest) -> Mapping[str, Any]:
    fields = from_json(request.body)
    if not isinstance(fields, dict):
        raise ValueError("the body must be a JSON object")
    return fields


_CASE = r"/test-suites/(?P<suite>.+)/test-cases/(?P<case>.+)/baseline"
_EVALUATOR = r"/test-suites/(?P<suite>.+)/evaluators/(?P<evaluator>.+)/human-reviews"
_RUN = r"/testing/(?:local|ci)/runs/(?P<run>[^/]+)"
_ROUTES: tuple[tuple[str, re.Pattern[str], _Handler], ...] = (
    ("GET", re.compile(_CASE), _get_baseline),
    ("POST", re.compile(_CASE), _set_baseline),
    ("GET", re.compile(_EVALUATOR), _list_overrides),
    ("POST", re.compile(rf"{_RUN}/human-review-job"), _create_review),
    ("POST", re.compile(rf"{_RUN}/results/[^/]+/events"), _ignore),
    ("POST", re.compile(r"/ingest/?"), _ignore),
)
