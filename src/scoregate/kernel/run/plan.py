"""The plan: the sources that discovery found, and how each is launched."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from itertools import count
from pathlib import Path

from scoregate.kernel.judge.settings import Origins, Settings, SuiteSettings
from scoregate.kernel.run.frameworks import FoundFramework
from scoregate.kernel.run.interpreter import Interpreter
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.arms import Arm
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.runs.run_scope import RunShard
from scoregate.kernel.types.sharding.packing import LaunchDuration


class SourceKind(StrEnum):
    """How a source is run: a script, pytest, a command in any language, or data and agents that our worker runs."""

    PYTHON = "python"
    PYTEST = "pytest"
    COMMAND = "command"
    CONFIG = "config"
    TESTSET = "testset"
    AGENT = "agent"


_MOST_REASONS = 5
_WORKER_KINDS = (SourceKind.CONFIG, SourceKind.TESTSET, SourceKind.AGENT)


@record
class RowColumns:
    """The columns of a file of rows. Nested values are named by paths, such as `doc.question`.

    `scores` are globs of names. `reason` may contain `{score}`, the name of a score. With `repeats`, further rows of a
    case are repeats of it. An empty name means that there is no such column.
    """

    scores: tuple[str, ...] = ()
    case: str = ""
    input: tuple[str, ...] = ()
    output: str = ""
    expected: str = ""
    reason: str = ""
    suite: str = ""
    tags: str = ""
    cluster: str = ""
    error: str = ""
    repeats: bool = False

    def list_required(self) -> tuple[tuple[str, str], ...]:
        """The columns that every file must have, each with the name of its setting."""
        inputs = tuple(("input", each) for each in self.input)
        names = ("case", "output", "expected", "suite", "tags", "cluster")
        return inputs + tuple((name, getattr(self, name)) for name in names if getattr(self, name))


@record
class ResultImport:
    """Result files that a command writes.

    `format` is their format, such as `junit`; `pattern` is a path or a glob, relative to the command's folder. `scores`
    are globs of the properties that are scores, `columns` are those of rows.
    """

    format: str
    pattern: str
    scores: tuple[str, ...] = ()
    columns: RowColumns | None = None


@record
class SuiteGates:
    """The gates in a suite's file; `places` are their lines by path of keys."""

    table: SuiteSettings
    places: Origins


@record
class Module:
    """A Python module that a file is run as: its dotted name, and the folder that it is imported from.

    The folder is relative to the root. `is_package`: the file is the `__init__.py` of this package.
    """

    name: str
    folder: str = "."
    is_package: bool = False


@record
class SuiteSource:
    """Something that holds suites.

    Args:
        path: relative to the root, with slashes; the name of a command; the file of a test config.
        kind: how it is run.
        line: the line of the first suite, from 1.
        suite_ids: the ids in it; None if they are unknown before it runs.
        expected: the ids of suites that report in every run that ends normally.
        why: the reason why it is run, for reports.
        error: the reason why it can't run.
        argv: the arguments of a command; for data, the arguments of Python.
        cwd: the working directory of a command, relative to the root.
        foreign: its suites may belong to another SDK, which reports over HTTP.
        imports: result files to read at its end.
        inputs: globs of the files that a command depends on, relative to the root.
        needs: the variables that its file refers to.
        gates: the gates in its file.
        uses_host_python: it uses none of the project's Python code, so scoregate's own Python runs it.
        module: the module that a Python file with relative imports is run as.
        import_folders: folders below the root that Python also imports from, relative to it.
        arm: what the agent of a suite runs with; None for other suites.
    """

    path: str
    kind: SourceKind
    line: int = 1
    suite_ids: tuple[str, ...] | None = None
    expected: tuple[str, ...] = ()
    why: str = ""
    error: str | None = None
    argv: tuple[str, ...] = ()
    cwd: str = "."
    foreign: bool = False
    imports: tuple[ResultImport, ...] = ()
    inputs: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    gates: SuiteGates | None = field(default=None, hash=False)
    uses_host_python: bool = False
    module: Module | None = None
    import_folders: tuple[str, ...] = ()
    arm: Arm | None = None


@record
class SkippedSource:
    """A source that is not run, and the reason.

    Args:
        path: the path of the source.
        why: the reason.
        notable: reports show it without `--verbose`, too.
        suite_ids: suites that are missing from the run for this reason.
        left_out: suites that a filter left out.
        in_doubt: it may hold a suite that was not found.
        needs: the variables that are not set, which is the reason.
    """

    path: str
    why: str
    notable: bool = False
    suite_ids: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    in_doubt: bool = False
    needs: tuple[str, ...] = ()


@record
class DiscoveredSuites:
    """The result of discovery.

    Args:
        sources: what holds suites.
        skipped: what is not run.
        notices: the notices for the report.
        narrowed: the user named one source, so no others were searched for.
        frameworks: evals of other frameworks, which are searched if there are no suites.
    """

    sources: tuple[SuiteSource, ...] = ()
    skipped: tuple[SkippedSource, ...] = ()
    notices: tuple[str, ...] = ()
    narrowed: bool = False
    frameworks: tuple[FoundFramework, ...] = ()

    def explain_missing(self) -> Iterator[str]:
        """Why there are no suites: the reasons of the first skipped files."""
        hidden = [each for each in self.skipped if not each.notable]
        if not self.sources:
            yield from (f"{each.path} was skipped: {each.why}" for each in hidden[:_MOST_REASONS])
            if len(hidden) > _MOST_REASONS:
                yield f"{len(hidden) - _MOST_REASONS:,} more were skipped: `scoregate list -v` lists them"

    def __add__(self, other: DiscoveredSuites) -> DiscoveredSuites:
        """All sources, skipped sources and notices of both."""
        return DiscoveredSuites(
            self.sources + other.sources,
            self.skipped + other.skipped,
            self.notices + other.notices,
            self.narrowed or other.narrowed,
            self.frameworks + other.frameworks,
        )


@record
class Launch:
    """One process to start. `name` is unique within the plan; `environment` is added to the process's own."""

    name: str
    argv: tuple[str, ...]
    cwd: Path
    kind: SourceKind
    source: SuiteSource
    environment: Mapping[str, str] = field(default_factory=dict)


@record
class CarriedScripts:
    """The scripts that don't run, because no change can affect them, and the run with their results."""

    run: Run
    scripts: frozenset[str]


@record
class KeptCases:
    """The scripts of which only cases with changed rows run, with the files of these rows, by name.

    `run` is the base's run, whose results the other cases keep.
    """

    run: Run
    scripts: Mapping[str, tuple[str, ...]]


@record
class Plan:
    """What to launch.

    Args:
        root: the project.
        interpreter: the Python that runs suites.
        launches: the processes to start.
        broken: the sources that can't be launched.
        notices: the notices for the report.
        skipped: the ids of suites that are missing for another reason than a filter.
        unset: the paths of sources that are not run because their variables are not set.
        left_out: the ids of suites that a filter left out.
        narrowed: the user named what to run, so no other sources were searched for.
        shard: the shard that it is restricted to; None for all.
        carried: the scripts whose results come from the base's run; None if all are launched.
        kept: the scripts of which only some cases run; None if all cases of all launches do.
        durations: the durations of launches in the baseline, by name; empty if nothing is divided by them.
        offered: the runs whose results launches may reuse, and which have the images and audio of these.
        head: the root of the project in the checkout of the change, if the plan runs in the base's tree.
    """

    root: Path
    interpreter: Interpreter
    launches: tuple[Launch, ...] = ()
    broken: tuple[SuiteSource, ...] = ()
    notices: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    unset: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    narrowed: bool = False
    shard: RunShard | None = None
    carried: CarriedScripts | None = None
    kept: KeptCases | None = None
    durations: Mapping[str, LaunchDuration] = field(default_factory=dict)
    offered: tuple[Run, ...] = ()
    head: Path | None = None

    def carry_scripts(self, base: Run, names: frozenset[str]) -> Plan:
        """The plan without some scripts, whose results come from the base's run."""
        before = self.carried.scripts if self.carried is not None else frozenset[str]()
        launches = tuple(each for each in self.launches if each.name not in names)
        return replace(self, launches=launches, carried=CarriedScripts(base, before | names))


def list_import_folders(root: Path, folders: Iterable[str] = ()) -> tuple[str, ...]:
    """The folders of a project that its suites import from, in this order: those of the source, the root, its `src`.

    Args:
        root: the project.
        folders: the folders of the source, relative to the root.
    """
    source_folder = root / "src"
    return (
        *(str(root / each) for each in folders),
        str(root),
        *([str(source_folder)] if source_folder.is_dir() else []),
    )


def make_plan(suites: DiscoveredSuites, settings: Settings, *, interpreter: Interpreter, root: Path) -> Plan:
    """How each source is launched."""
    launches: dict[str, Launch] = {}
    left_out = [suite for each in suites.skipped for suite in each.left_out]
    for source in suites.sources:
        if source.error is not None:
            continue
        choices = (source.path if number == 1 else f"{source.path} #{number}" for number in count(1))
        name = next(choice for choice in choices if choice not in launches)
        if not settings.selection.takes_launch(source.path, name):
            left_out += source.suite_ids or ()
            continue
        environment = {
            **interpreter.environment,
            "SCOREGATE_ROOT": str(root),
            "SCOREGATE_REPORT": str(root / settings.out / "comment.md"),
            **settings.environment(source.suite_ids, root=root),
            **settings.selection.environment(source.path, name),
        }
        argv = _argv(source, interpreter)
        launches[name] = Launch(name, argv, root / source.cwd, source.kind, source, environment)
    ordered = sorted(launches.values(), key=lambda launch: launch.name not in settings.selection.first)
    return Plan(
        root,
        interpreter,
        tuple(ordered),
        broken=tuple(source for source in suites.sources if source.error is not None),
        skipped=tuple(suite for each in suites.skipped for suite in each.suite_ids),
        unset=tuple(each.path for each in suites.skipped if each.needs),
        left_out=tuple(left_out),
        narrowed=suites.narrowed or settings.narrowed or bool(settings.selection.description),
    )


def restrict_plan(plan: Plan, cases: Mapping[str, Mapping[str, Sequence[str]]], *, repeats: int) -> Plan:
    """The plan with some cases only, without the cache of models' answers: a stored answer is no new evidence.

    Args:
        plan: the whole plan.
        cases: the hashes of the cases to run, by launch and suite id.
        repeats: how often each is run, unless it sets that itself.
    """
    launches = (
        replace(
            launch,
            environment={
                **launch.environment,
                "SCOREGATE_OVERRIDES_TESTS_AND_HASHES": json.dumps(cases[launch.name]),
                "SCOREGATE_REPEATS": str(repeats),
                "SCOREGATE_CACHE": "off",
                "SCOREGATE_SELECTION": _drop_sample(launch.environment.get("SCOREGATE_SELECTION", "")),
                "SCOREGATE_PARTS": "",
            },
        )
        for launch in plan.launches
        if launch.name in cases
    )
    return Plan(plan.root, plan.interpreter, tuple(launches))


def repeat_launches(plan: Plan, names: Collection[str]) -> Plan:
    """The plan with the launches of these names only, without the cache of models' answers."""
    launches = [each for each in plan.launches if each.name in names]
    fresh = [replace(each, environment={**each.environment, "SCOREGATE_CACHE": "off"}) for each in launches]
    return Plan(plan.root, plan.interpreter, tuple(fresh))


def _drop_sample(selection: str) -> str:
    """A selection without its sample: the cases are chosen already. What is left can also select variants."""
    kept = {name: value for name, value in json.loads(selection or "{}").items() if name in ("keyword", "named")}
    return json.dumps(kept) if kept else ""


def _argv(source: SuiteSource, interpreter: Interpreter) -> tuple[str, ...]:
    path = f"./{source.path}" if source.path.startswith("-") else source.path
    if source.kind is SourceKind.PYTHON:
        return (*interpreter.argv, *(_module_arguments(source.module) if source.module else (path,)))
    if source.kind is SourceKind.PYTEST:
        return (*interpreter.argv, "-m", "pytest", "-q", path)
    if source.uses_host_python:
        return (sys.executable, "-I", *source.argv)
    is_named = "/" in source.argv[0] or source.argv[0] == "uv"
    launcher = interpreter.argv if source.kind in _WORKER_KINDS else () if is_named else interpreter.launcher
    return (*launcher, *source.argv)


# `python -m` imports from the working directory, and runs no package without a `__main__.py`. With PYTHONSAFEPATH, the
# first folder of the import path is one of the user's, and not the working directory.
_RUN_MODULE = """\
import importlib.util, os, sys
folder = os.path.abspath(sys.argv[1])
sys.path[:] = [folder, *sys.path[0 if getattr(sys.flags, "safe_path", False) else 1:]]
spec, main = importlib.util.find_spec(sys.argv[2]), sys.modules["__main__"]
main.__spec__, main.__package__, main.__file__ = spec, spec.parent, spec.origin
if spec.submodule_search_locations is not None:
    main.__path__, sys.modules[spec.name] = spec.submodule_search_locations, main
sys.argv[:] = [spec.origin]
exec(spec.loader.get_code(spec.name), vars(main))
"""


def _module_arguments(module: Module) -> tuple[str, ...]:
    """The arguments of Python that run a module as `__main__`."""
    is_alone = module.folder == "." and not module.is_package
    return ("-m", module.name) if is_alone else ("-c", _RUN_MODULE, module.folder, module.name)
