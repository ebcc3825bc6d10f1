"""Bodies of an SDK's calls, parsed and turned into evaluations and errors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from hashlib import md5
from typing import Any

from pydantic_core import from_json

from scoregate.kernel.host.request_bodies import Refused
from scoregate.kernel.types.evaluation import Assertion, Evaluation, Threshold
from scoregate.kernel.types.event_values import (
    MAX_MESSAGE,
    MAX_TRACEBACK,
    ErrorInfo,
    HumanReviewField,
    HumanReviewFieldContentType,
    truncate_text,
)
from scoregate.kernel.types.json_io import dump
from scoregate.kernel.types.records import record

PYTHON, JAVASCRIPT = "autoblocks-python", "autoblocks-js"
_AGENTS = {"python-httpx": PYTHON, "node": JAVASCRIPT, "undici": JAVASCRIPT}
_LONGEST_ID = 1_000
_LONGEST_NAME = 200
_TEXT = HumanReviewFieldContentType.TEXT
_BOUNDS = ("lt", "lte", "gt", "gte")
# A pair of surrogates, half of one, or any other escape of JSON.
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)


def parse(body: bytes) -> Any:
    """The JSON of a body. NaN and infinities are numbers; half a surrogate pair is spelled out, as in `\\ud800`.

    Raises:
        ValueError: it is not JSON, too deep, or has a number of too many digits.
    """
    try:
        return from_json(body)
    except ValueError:
        text = body.decode("utf-8", "replace")
        repaired = _ESCAPE.sub(lambda escape: f"\\\\{escape[1]}" if escape[1] else escape[0], text).encode()
        if repaired == body:
            raise
    return from_json(repaired)


@record
class Call:
    """A call: its path, its body, parsed and as it was sent, and the SDK that sent it; None if that is unknown."""

    path: str
    data: Mapping[str, Any]
    body: bytes
    sdk: str | None = None

    def id(self, name: str) -> str:
        """The id in a field: `testExternalId` of the suite, `testCaseHash`, or `evaluatorExternalId`.

        Raises:
            Refused: there is none.
        """
        value = self.data.get(name)
        if not isinstance(value, str) or not value:
            raise Refused(f"its {name} must be a text that is not empty, not {value!r:.80}")
        return bounded_id(value)


def parse_call(path: str, body: bytes, agent: str) -> Call:
    """The call in a body.

    Args:
        path: the address that it was sent to.
        body: the body as it was sent.
        agent: the client's user agent.

    Raises:
        Refused: the body is not a JSON object.
    """
    try:
        data = parse(body)
    except ValueError as error:
        raise Refused(f"its body can't be parsed as JSON: {error}") from None
    if not isinstance(data, Mapping):
        raise Refused(f"its body must be a JSON object, not {data!r:.80}")
    return Call(path, data, body, _AGENTS.get(agent.partition("/")[0]))


def bounded_id(value: str) -> str:
    """An id of limited length; ids that differ stay different, and equal ones equal."""
    if len(value) <= _LONGEST_ID:
        return value
    return f"{value[:_LONGEST_ID]}… {md5(value.encode(), usedforsecurity=False).hexdigest()}"


def read_evaluation(data: Mapping[str, Any]) -> Evaluation | ErrorInfo:
    """The evaluation in the body of a call; an error if its score can't be compared."""
    try:
        score = data.get("score")
        if score is None:
            raise TypeError("the score is null, which is also how JavaScript writes NaN")
        score = float(score) if isinstance(score, bool) else score
        return Evaluation(
            score, _threshold(data.get("threshold")), data.get("metadata"), tuple(_assertions(data)) or None
        )
    except (TypeError, ValueError) as error:
        return ErrorInfo(type(error).__name__, str(error), advice="Scores are numbers from 0 to 1.")


def find_oddities(data: Mapping[str, Any]) -> Iterator[str]:
    """Describe fields of an evaluation that are accepted although they don't follow the protocol."""
    if isinstance(data.get("score"), bool):
        yield "returns true or false as its score, which counts as 1 or 0"
    assertions = data.get("assertions")
    if assertions is not None and (not isinstance(assertions, list) or len(list(_assertions(data))) < len(assertions)):
        yield "returns assertions that are not valid, which are ignored"


def _threshold(value: Any) -> Threshold | None:
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise TypeError(f"the threshold must be an object, not {value!r:.80}")
    bounds = {name: bound for name in _BOUNDS if (bound := value.get(name)) is not None}
    return Threshold(**bounds) if bounds else None


def _assertions(data: Mapping[str, Any]) -> Iterator[Assertion]:
    assertions = data.get("assertions")
    for each in assertions if isinstance(assertions, list) else ():
        if isinstance(each, Mapping) and isinstance(criterion := each.get("criterion"), str):
            passed, required, metadata = each.get("passed"), each.get("required"), each.get("metadata")
            if isinstance(passed, bool) and isinstance(required, bool):
                is_table = metadata is None or isinstance(metadata, Mapping)
                yield Assertion(criterion, passed, required, metadata if is_table else {"value": metadata})


def read_review_fields(value: Any) -> tuple[HumanReviewField, ...]:
    """The fields for reviewers that an SDK sends; what is not a field is left out."""
    given = [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []
    texts = ((each.get("name"), each.get("value"), each.get("contentType")) for each in given)
    return tuple(
        HumanReviewField(name, text, next((each for each in HumanReviewFieldContentType if each == kind), _TEXT))
        for name, text, kind in texts
        if isinstance(name, str) and isinstance(text, str)
    )


def read_error(value: Any) -> ErrorInfo:
    """The exception that an SDK reports, with advice for known ones."""
    parts = value if isinstance(value, Mapping) else {"message": value}
    message = _text(parts.get("message"), MAX_MESSAGE)
    return ErrorInfo(
        _text(parts.get("name"), _LONGEST_NAME) or "Error",
        message,
        _text(parts.get("stacktrace"), MAX_TRACEBACK),
        advice_for(message),
    )


def _text(value: Any, limit: int) -> str:
    """A text of about `limit` characters at most; empty for null, JSON for other types."""
    if value is None:
        return ""
    return truncate_text(value if isinstance(value, str) else dump(value).decode(), limit)


_KNOWN_ERRORS = (
    (
        re.compile(r"requires openai version 1\.x"),
        "Autoblocks' own judges work with openai 1.x alone: `pip install 'openai>=1,<2'` where the command runs. "
        "scoregate's judges work with any: import from scoregate.testing instead.",
    ),
    (
        re.compile(r"requires ragas version 0\.2\.x"),
        "Autoblocks' own ragas evaluators work with ragas 0.2 alone: `pip install 'ragas==0.2.*'` where the command "
        "runs. Those of scoregate.testing.evaluators also work with later ones.",
    ),
    (
        re.compile(r"You must set the '?OPENAI_API_KEY'? environment variable"),
        "Set OPENAI_API_KEY for the command; in a job, from a secret: "
        "`env: OPENAI_API_KEY: ${{ secrets.OPENAI_API_KEY }}`.",
    ),
)


def advice_for(message: str) -> str:
    """What to do about an exception with this message; empty if it is unknown."""
    return next((advice for pattern, advice in _KNOWN_ERRORS if pattern.search(message)), "")
