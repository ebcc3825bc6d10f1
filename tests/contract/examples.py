"""The examples of documents in which code stands between the lines, without fences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.warm_scripts import run_script

from scoregate.core.event_json import parse_event
from scoregate.core.events import Event, Scored

# From the first import after a line of prose to the bracket that closes the call of run_test_suite.
_CODE = re.compile(r"^from .+?^run_test_suite\($.+?^\)$", re.MULTILINE | re.DOTALL)
_EVALUATOR = re.compile(r"^from autoblocks\.testing\.evaluators import (\w+)$", re.MULTILINE)
_OTHERS = "BaseRagas"


@dataclass(frozen=True)
class Example:
    """One example, and the evaluator that it is about."""

    name: str
    source: str = field(repr=False)

    @property
    def changed(self) -> str:
        """Its source with the import root changed, and nothing else."""
        return self.source.replace("from autoblocks.", "from scoregate.")


def examples(document: Path) -> Iterator[Example]:
    """The examples of a document, those aside that wrap another framework."""
    for code in _CODE.findall(document.read_text(encoding="utf-8")):
        found = _EVALUATOR.search(code)
        if found and not found[1].startswith(_OTHERS):
            yield Example(found[1], code)


def documented(document: Path, name: str) -> Iterator[Example]:
    """The examples of a document that are about this evaluator."""
    for code in _CODE.findall(document.read_text(encoding="utf-8")):
        if re.search(rf"\b{name}\b", code):
            yield Example(name, code)


@dataclass(frozen=True)
class Ran:
    """How an example ended, and what it said."""

    code: int
    err: str
    events: list[Event]

    @property
    def scores(self) -> list[float]:
        """In the order of the cases in the source, which is that of their beginnings."""
        order = list(dict.fromkeys(event.case for event in self.events if event.type == "case_started"))
        scored = {event.case: event.score for event in self.events if isinstance(event, Scored)}
        return [scored[case] for case in order if case in scored]

    def told(self, kind: str) -> list[Event]:
        """The events of one type."""
        return [event for event in self.events if event.type == kind]


def run(source: str, folder: Path, environment: Mapping[str, str] | None = None) -> Ran:
    """Run the source as a script, watched as a host would; the folder is the project."""
    script, events = folder / "suite.py", folder / "events"
    script.write_text(source, encoding="utf-8")
    events.mkdir(exist_ok=True)
    for old in events.iterdir():
        old.unlink()
    # The import of openai's client takes three times as long as an example.
    environ = {"SCOREGATE_EVENTS": str(events), "SCOREGATE_ROOT": str(folder), "PATH": "", **(environment or {})}
    done = run_script(script, environ, ["openai"])
    lines = (line for path in sorted(events.iterdir()) for line in path.read_bytes().splitlines())
    return Ran(done.returncode, done.stderr, [parse_event(line) for line in lines])
