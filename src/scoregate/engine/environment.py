"""What the environment asks of suites: which to run, which cases, how often, and where to tell of it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic_core import from_json

from scoregate.core.suite import Case
from scoregate.core.text import matches_filters
from scoregate.engine.event_log import EVENTS_VARIABLE
from scoregate.errors import UsageError

SUITES = "FILTERS_TEST_SUITES"
CASES = "OVERRIDES_TESTS_AND_HASHES"
MESSAGE = "TEST_RUN_MESSAGE"


class Selection(NamedTuple):
    """The part of a suite that is to run.

    `globs` (ours) match suite ids whole; `substrings` (Autoblocks') match a part. `hashes` maps a suite's id to its
    cases, none meaning all. `repeats` and `max_cases` count; None leaves them to the suite.
    """

    globs: tuple[str, ...] = ()
    substrings: tuple[str, ...] = ()
    hashes: Mapping[str, tuple[str, ...]] = {}
    repeats: int | None = None
    max_cases: int | None = None

    def includes(self, suite: str) -> bool:
        """Whether this suite is to run at all."""
        if not matches_filters(suite, self.globs):
            return False
        if self.substrings and not any(part in suite for part in self.substrings):
            return False
        return not self.hashes or suite in self.hashes


def read_selection(environ: Mapping[str, str] = os.environ) -> Selection:
    """Read it from `SCOREGATE_*`, and where these are not set from their `AUTOBLOCKS_*` twins.

    Raises:
        UsageError: a variable does not hold what it should.
    """
    ours, theirs = environ.get(f"SCOREGATE_{SUITES}"), environ.get(f"AUTOBLOCKS_{SUITES}")
    cases = next((name for name in (f"SCOREGATE_{CASES}", f"AUTOBLOCKS_{CASES}") if environ.get(name)), None)
    return Selection(
        globs=_parse_strings(f"SCOREGATE_{SUITES}", ours),
        substrings=() if ours else _parse_strings(f"AUTOBLOCKS_{SUITES}", theirs),
        hashes=_parse_hashes(cases, environ[cases]) if cases else {},
        repeats=_parse_count("SCOREGATE_REPEATS", environ),
        max_cases=_parse_count("SCOREGATE_MAX_CASES", environ),
    )


def select_cases(cases: Sequence[Case], suite: str, selection: Selection) -> Iterator[Case]:
    """The cases of a suite that the environment asks for."""
    wanted = set(selection.hashes.get(suite, ()))
    matching = (case for case in cases if not wanted or case.hash in wanted)
    for at, case in enumerate(matching):
        if selection.max_cases is not None and at >= selection.max_cases:
            return
        yield case


def events_folder(environ: Mapping[str, str] = os.environ) -> Path | None:
    """The folder in which the host listens; None where there is no host."""
    folder = environ.get(EVENTS_VARIABLE)
    return Path(folder) if folder else None


def run_message(environ: Mapping[str, str] = os.environ) -> str | None:
    """What titles the run; None where nothing does."""
    return environ.get(f"SCOREGATE_{MESSAGE}") or environ.get(f"AUTOBLOCKS_{MESSAGE}")


def _parse_strings(name: str, text: str | None) -> tuple[str, ...]:
    value = _parse_json(name, text) if text else []
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise UsageError(f"{name} must be a JSON list of strings, not {text!r}")
    return tuple(value)


def _parse_hashes(name: str, text: str) -> dict[str, tuple[str, ...]]:
    value = _parse_json(name, text)
    if not isinstance(value, dict) or not all(isinstance(cases, list) for cases in value.values()):
        raise UsageError(f"{name} must be a JSON object of suite ids and lists of hashes, not {text!r}")
    return {suite: tuple(map(str, cases)) for suite, cases in value.items()}


def _parse_json(name: str, text: str) -> object:
    try:
        return from_json(text)
    except ValueError as error:
        raise UsageError(f"{name} is not JSON: {error}") from None


def _parse_count(name: str, environ: Mapping[str, str]) -> int | None:
    text = environ.get(name, "")
    if text and not (text.isascii() and text.isdigit() and int(text)):
        raise UsageError(f"{name} must be a whole number of at least 1, not {text!r}")
    return int(text) if text else None
