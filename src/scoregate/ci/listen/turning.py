"""Bodies of calls turned into the events of one case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from scoregate.ci.listen.bodies import parse
from scoregate.ci.listen.calls import JAVASCRIPT
from scoregate.ci.listen.fitting import fitting
from scoregate.ci.listen.scores import evaluation_of
from scoregate.ci.listen.texts import error_info
from scoregate.core.case import CaseKey
from scoregate.core.events import CaseFinished, CaseOutput, CaseStarted, Errored, ErrorInfo, Event, Scored
from scoregate.core.figures import amount
from scoregate.core.naming import LONGEST_NAME, case_name
from scoregate.core.wire import dump

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Teller:
    """Tells of the cases of a suite, whose SDK is `sdk`, in events."""

    suite: str
    sdk: str | None

    def result(self, key: CaseKey, body: Body | None, raw: bytes) -> Iterator[Event]:
        """What went in and came out; `raw` is the body as it was sent."""
        who = self._who(key)
        if body is None:
            yield CaseStarted(**who, name=case_name(key.hash, None) or key.hash[:LONGEST_NAME])
            return
        given = body.get("testCaseBody")
        name = case_name(key.hash, given) or dump(given).decode()[:LONGEST_NAME]
        yield from fitting(CaseStarted(**who, name=name, input=given, digest=f"{digest(body):08x}"), raw)
        output, duration = self._output(body), amount(body.get("testCaseDurationMs"))
        yield from fitting(CaseOutput(**who, output=output, duration_ms=duration), raw)

    def failure(self, key: CaseKey, body: Body, evaluator: str | None = None) -> Event:
        """The function under test raised, or an evaluator did."""
        stage, error = "task" if evaluator is None else "evaluator", error_info(body.get("error"))
        return Errored(**self._who(key), stage=stage, evaluator=evaluator, error=error)  # type: ignore[arg-type]

    def evaluated(self, key: CaseKey, body: Body, raw: bytes, *, evaluator: str) -> Iterator[Event]:
        """An evaluator's word, where it is none that counts an error."""
        who, found = self._who(key), evaluation_of(body)
        if isinstance(found, ErrorInfo):
            yield Errored(**who, stage="evaluator", evaluator=evaluator, error=found)
            return
        assertions = None if found.assertions is None else tuple(found.assertions)
        parts: dict[str, Any] = {"threshold": found.threshold, "metadata": found.metadata, "assertions": assertions}
        yield from fitting(Scored(**who, evaluator=evaluator, score=found.score, **parts), raw)

    def finished(self, key: CaseKey, unscored: tuple[str, ...] = ()) -> Event:
        """The last word on it; `unscored` are evaluators that gave no score, as they may."""
        return CaseFinished(**self._who(key), unscored=unscored)

    def broken(self, key: CaseKey, error: Exception) -> Event:
        """We failed to tell of it."""
        told = ErrorInfo(
            type(error).__name__, f"scoregate could not take in what was said of this case: {error!s:.500}"
        )
        return Errored(**self._who(key), stage="task", error=told)

    def _who(self, key: CaseKey) -> dict[str, Any]:
        return {"suite": self.suite, "case": key.hash, "repeat": key.repeat}

    def _output(self, body: Body) -> Any:
        """JavaScript's SDK sends objects as a text of JSON, and texts as they are."""
        output = body.get("testCaseOutput")
        if self.sdk != JAVASCRIPT or not isinstance(output, str) or not output.startswith(("{", "[", "null")):
            return output
        try:
            return parse(output.encode())
        except ValueError:
            return output


def digest(body: Body) -> int:
    """Tells whether a case is another one under the same hash."""
    return crc32(dump(body.get("testCaseBody")))
