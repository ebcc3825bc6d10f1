"""Examples as cases of a suite, and the state of each one during a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from time import perf_counter
from typing import Any
from zlib import crc32

from scoregate.datasets import Example
from scoregate.grading.subject import Subject
from scoregate.judges import JudgeResult
from scoregate.kernel.types.json_io import dump, sort_sets
from scoregate.kernel.types.suite import Case, Description
from scoregate.kernel.types.text import LONGEST_NAME, case_name
from scoregate.kernel.types.trace import Trace
from scoregate.offline_tests.tracer import Recording

_OUTPUT = "output"


@dataclass(slots=True)
class Attempt:
    """The state of one example during a run: the agent's output, the results of the judges, the pass condition."""

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

    def subject(self, *, with_trace: bool) -> Subject:
        """The subject for the judges. Code judges see the output as the field `output`, unless there is such a field.

        Args:
            with_trace: whether to include the trace as text, for prompts.
        """
        example, trace = self.example, self.trace
        fields, seen = example.properties, example
        if self.has_output or trace is not None:
            shown = {**fields, _OUTPUT: self.output} if self.has_output and _OUTPUT not in fields else fields
            trace_id = example.offline_trace_id if trace is None else trace.trace_id
            seen = replace(example, _properties=shown, offline_trace_id=trace_id, trace=trace)
        text = trace.text() if trace is not None and with_trace else None
        return Subject(output=self.output if self.has_output else None, trace=text, fields=fields, example=seen)

    def end_recording(self, output: Any = None) -> None:
        """End the recording of the agent's call, if there is one, with its output."""
        if self.recording is not None:
            self.recording.end(output)
            self.trace_id = self.recording.trace_id

    @property
    def trace(self) -> Trace | None:
        """The agent's trace, or that of the example. The recording is released once its trace is known."""
        if (recording := self.recording) is not None and (trace := recording.trace) is not None:
            self.known_trace, self.recording = trace, None
        return self.known_trace

    def add_result(self, scorer: str, result: JudgeResult) -> None:
        """Store the result of a judge."""
        self.results[scorer] = result
        self.ended = perf_counter()


def cases_of(examples: Iterable[Example], repeats: int) -> Iterator[Case]:
    """A case for each example. Its hash is a digest of the fields; identical examples get numbers."""
    seen: Counter[str] = Counter()
    for example in examples:
        digest = blake2b(dump(sort_sets(example.properties)), digest_size=12).hexdigest()
        seen[digest] += 1
        number = f"#{seen[digest]}" if seen[digest] > 1 else ""
        yield Case(digest + number, example, repeats)


def describe_example(case: Case) -> Description:
    """The example as the record shows it."""
    example: Example = case.value
    digest = case.hash.partition("#")[0]
    name = example.name or case_name(digest, example.properties) or dump(example.properties).decode()
    return Description(name[:LONGEST_NAME], example.properties, f"{crc32(case.hash.encode()):08x}")
