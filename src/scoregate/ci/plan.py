"""What is to be run: the sources that discovery found, and how each is launched."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import count
from pathlib import Path

from scoregate.ci.interpreter import Interpreter
from scoregate.ci.settings import Origins, Settings, SuiteSettings


class Kind(StrEnum):
    """How a source is run: as a script, by pytest, as a command in any language, or, being data, by our worker."""

    PYTHON = "python"
    PYTEST = "pytest"
    COMMAND = "command"
    CONFIG = "config"
    TESTSET = "testset"


_OF_WORKER = (Kind.CONFIG, Kind.TESTSET)


@dataclass(frozen=True, slots=True)
class Import:
    """Result files of another framework, which a command leaves behind.

    `format` names who wrote them, such as `junit`; `pattern` is a path or a glob, relative to the command's folder.
    """

    format: str
    pattern: str


@dataclass(frozen=True, slots=True)
class Gates:
    """What the file of a suite sets for it; `places` tell by path of keys where."""

    table: SuiteSettings
    places: Origins


@dataclass(frozen=True, slots=True)
class Source:
    """Something that holds suites.

    `path` is relative to the root, with slashes; of a command it is the name, of a test config the file that it is
    kept in. `line` is that of the first suite, from 1. `suite_ids` are those in it, None where they are not known
    before it runs; `expected` are those that report whenever it runs to its end. `error` says why it cannot run.
    `argv` and `cwd` (relative to the root) are a command's own; of what is data `argv` is what Python is given.
    `foreign`: its suites may be another SDK's, which reports over HTTP. `imports` are read once it has ended.
    `needs` are variables of the environment that its file refers to, `gates` what that sets for its suite. `apart`: it
    takes nothing of the project's own Python, so that ours runs it.
    """

    path: str
    kind: Kind
    line: int = 1
    suite_ids: tuple[str, ...] | None = None
    expected: tuple[str, ...] = ()
    why: str = ""
    error: str | None = None
    argv: tuple[str, ...] = ()
    cwd: str = "."
    foreign: bool = False
    imports: tuple[Import, ...] = ()
    needs: tuple[str, ...] = ()
    gates: Gates | None = field(default=None, hash=False)
    apart: bool = False


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that was looked at and is not run, and why; `notable` where that is to be told unasked.

    `suite_ids` are those that are missing from the run for it, though nobody filtered them; `left_out` those filtered.
    """

    path: str
    why: str
    notable: bool = False
    suite_ids: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """What discovery found; `narrowed`: one thing was named, and nothing else of the project looked for."""

    sources: tuple[Source, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    notices: tuple[str, ...] = ()
    narrowed: bool = False

    def __add__(self, other: Found) -> Found:
        """Both."""
        return Found(
            self.sources + other.sources,
            self.skipped + other.skipped,
            self.notices + other.notices,
            self.narrowed or other.narrowed,
        )


@dataclass(frozen=True, slots=True)
class Launch:
    """One process to start. `name` is unique within the plan; `environment` is added to the process's own."""

    name: str
    argv: tuple[str, ...]
    cwd: Path
    kind: Kind
    source: Source
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that is to be launched, the sources that cannot be, and what is to be told of it.

    `skipped` are the ids of suites that are left out though nobody filtered them, `left_out` of those filtered;
    `narrowed`: others were not even looked for, since what is to run was named.
    """

    root: Path
    interpreter: Interpreter
    launches: tuple[Launch, ...] = ()
    broken: tuple[Source, ...] = ()
    notices: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    narrowed: bool = False


def make_plan(found: Found, settings: Settings, *, interpreter: Interpreter, root: Path) -> Plan:
    """How each source is launched."""
    good = [source for source in found.sources if source.error is None]
    launches = (
        Launch(
            name,
            _argv(source, interpreter),
            root / source.cwd,
            source.kind,
            source,
            {
                **interpreter.environment,
                "SCOREGATE_ROOT": str(root),
                "SCOREGATE_REPORT": str(root / settings.out / "comment.md"),
                **settings.environment(source.suite_ids, root=root),
            },
        )
        for name, source in zip(_names(good), good, strict=True)
    )
    return Plan(
        root,
        interpreter,
        tuple(launches),
        broken=tuple(source for source in found.sources if source.error is not None),
        skipped=tuple(suite for each in found.skipped for suite in each.suite_ids),
        left_out=tuple(suite for each in found.skipped for suite in each.left_out),
        narrowed=found.narrowed or settings.narrowed,
    )


def restricted(plan: Plan, cases: Mapping[str, Mapping[str, Sequence[str]]], *, repeats: int) -> Plan:
    """The plan with some cases only; their models are asked anew, since a stored answer is no new evidence.

    Args:
        cases: by launch, by suite id, the hashes of those to run.
        repeats: how often each is run, where it does not say so itself.
    """
    launches = (
        replace(
            launch,
            environment={
                **launch.environment,
                "SCOREGATE_OVERRIDES_TESTS_AND_HASHES": json.dumps(cases[launch.name]),
                "SCOREGATE_REPEATS": str(repeats),
                "SCOREGATE_CACHE": "off",
            },
        )
        for launch in plan.launches
        if launch.name in cases
    )
    return Plan(plan.root, plan.interpreter, tuple(launches))


def _argv(source: Source, interpreter: Interpreter) -> tuple[str, ...]:
    path = f"./{source.path}" if source.path.startswith("-") else source.path
    if source.kind is Kind.PYTHON:
        return (*interpreter.argv, path)
    if source.kind is Kind.PYTEST:
        return (*interpreter.argv, "-m", "pytest", "-q", path)
    if source.apart:
        return (sys.executable, "-I", *source.argv)
    return (*interpreter.argv, *source.argv) if source.kind in _OF_WORKER else source.argv


def _names(sources: Iterable[Source]) -> Iterator[str]:
    taken: set[str] = set()
    for source in sources:
        choices = (source.path if number == 1 else f"{source.path} #{number}" for number in count(1))
        taken.add(name := next(choice for choice in choices if choice not in taken))
        yield name
