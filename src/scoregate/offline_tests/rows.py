"""Examples as cases of a suite, and what becomes of each of them in a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from time import perf_counter
from typing import Any
from zlib import crc32

from scoregate.core.naming import LONGEST_NAME, case_name
from scoregate.core.suite import Case, Description
from scoregate.core.trace import Trace
from scoregate.core.wire import dump, ordered
from scoregate.datasets import Example
from scoregate.judges import JudgeResult, Subject
from scoregate.offline_tests.tracer import Recording

_OUTPUT = "output"


@dataclass(slots=True)
class Attempt:
    """One example on its way: what the agent returned, what the judges said, and whether that will do."""

    example: Example
    has_output: bool = False
    output: Any = None
    trace_id: str | None = None
    known_trace: Trace | None = None
    recording: Recording | None = None
    judged: Subject | None = None
    results: dict[str, JudgeResult] = field(default_factory=dict)
    success: bool | None = None
    error: str | None = None
    started: float = field(default_factory=perf_counter)
    ended: float | None = None

    def subject(self, *, told: bool) -> Subject:
        """What the judges get; code judges see what the agent returned as the field `output`, unless there is one.

        `told`: whether the trace is wanted as text, as prompts need it.
        """
        example, trace = self.example, self.trace
        fields, seen = example.properties, example
        if self.has_output or trace is not None:
            shown = {**fields, _OUTPUT: self.output} if self.has_output and _OUTPUT not in fields else fields
            trace_id = example.offline_trace_id if trace is None else trace.trace_id
            seen = Example(shown, example.name, example.example_id, trace_id, trace)
        text = trace.text() if trace is not None and told else None
        return Subject(seen, fields, self.output, text) if self.has_output else Subject(seen, fields, trace=text)

    def end_recording(self, output: Any = None) -> None:
        """Take in the trace of the call, where it was recorded; `output` is what came out."""
        if self.recording is not None:
            self.recording.end(output)
            self.trace_id = self.recording.trace_id

    @property
    def trace(self) -> Trace | None:
        """What the agent did, or what the example points to; once it is known the recording is let go."""
        if (recording := self.recording) is not None and (trace := recording.trace) is not None:
            self.known_trace, self.recording = trace, None
        return self.known_trace

    def keep(self, scorer: str, result: JudgeResult) -> None:
        """Take in what a judge said."""
        self.results[scorer] = result
        self.ended = perf_counter()


def cases_of(examples: Iterable[Example], repeats: int) -> Iterator[Case]:
    """A case for each example, under a digest of its fields; identical ones are numbered."""
    seen: Counter[str] = Counter()
    for example in examples:
        digest = blake2b(dump(ordered(example.properties)), digest_size=12).hexdigest()
        seen[digest] += 1
        number = f"#{seen[digest]}" if seen[digest] > 1 else ""
        yield Case(digest + number, example, repeats)


def describe(case: Case) -> Description:
    """The example as the record tells it."""
    example: Example = case.value
    digest = case.hash.partition("#")[0]
    name = example.name or case_name(digest, example.properties) or _written(example.properties)
    return Description(name[:LONGEST_NAME], example.properties, f"{crc32(case.hash.encode()):08x}")


def _written(fields: Mapping[str, Any]) -> str:
    return dump(fields).decode()[:LONGEST_NAME]
