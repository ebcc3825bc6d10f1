"""Examples in documents whose code blocks have no fences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.warm_scripts import run_script

from scoregate.kernel.types.event_json import parse_event
from scoregate.kernel.types.events import Event, Scored

# From the first import after a line of prose to the bracket that closes the call of run_test_suite.
_CODE = re.compile(r"^from .+?^run_test_suite\($.+?^\)$", re.MULTILINE | re.DOTALL)
_EVALUATOR = re.compile(r"^from autoblocks\.testing\.evaluators import (\w+)$", re.MULTILINE)
_OTHERS = "BaseRagas"


@dataclass(frozen=True)
class Example:
    """One example and its evaluator."""

    name: str
    source: str = field(repr=False)

    @property
    def changed(self) -> str:
        """The source with only the import root changed."""
        return self.source.replace("from autoblocks.", "from scoregate.")


def examples(document: Path) -> Iterator[Example]:
    """The examples of a document, without those that wrap another framework."""
    for code in _CODE.findall(document.read_text(encoding="utf-8")):
        match = _EVALUATOR.search(code)
        if match and not match[1].startswith(_OTHERS):
            yield Example(match[1], code)


def documented(document: Path, name: str) -> Iterator[Example]:
    """The examples of a document for this evaluator."""
    for code in _CODE.findall(document.read_text(encoding="utf-8")):
        if re.search(rf"\b{name}\b", code):
            yield Example(name, code)


@dataclass(frozen=True)
class RecordedRun:
    """The exit code, output and events of an example."""

    code: int
    err: str
    events: list[Event]

    @property
    def scores(self) -> list[float]:
        """Scores in the order of the cases in the source, in which they start."""
        order = list(dict.fromkeys(event.case for event in self.events if event.type == "case_started"))
        scored = {event.case: event.score for event in self.events if isinstance(event, Scored)}
        return [scored[case] for case in order if case in scored]

    def events_of(self, kind: str) -> list[Event]:
        """The events of one type."""
        return [event for event in self.events if event.type == kind]


def run(source: str, folder: Path, environment: Mapping[str, str] | None = None) -> RecordedRun:
    """Run the source as a script and record its events as a host; the folder is the project."""
    script, events = folder / "suite.py", folder / "events"
    script.write_text(source, encoding="utf-8")
    events.mkdir(exist_ok=True)
    for old in events.iterdir():
        old.unlink()
    # The import of openai's client takes three times as long as an example.
    environ = {"SCOREGATE_EVENTS": str(events), "SCOREGATE_ROOT": str(folder), "PATH": "", **(environment or {})}
    done = run_script(script, environ, ["openai"])
    lines = (line for path in sorted(events.iterdir()) for line in path.read_bytes().splitlines())
    return RecordedRun(done.returncode, done.stderr, [parse_event(line) for line in lines])
