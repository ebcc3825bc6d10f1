"""Write the worlds of the golden runs: a run, its base, earlier runs and exemptions in every pair of features.

usage: python -m tools.golden_worlds

Each world is a project as `scoregate run` leaves it. `tests/golden/worlds.tar.xz` has them as this script wrote them.
"""

from __future__ import annotations

import itertools
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from scoregate.ci.archive import RunWriter, read_run
from scoregate.ci.settings import load_settings
from scoregate.core.evaluation import Usage
from scoregate.core.event_values import ErrorInfo, EvaluatorInfo, Fingerprint
from scoregate.core.runs.dependencies import CarriedFrom, Dependency, RunDependencies, ScriptDependencies
from scoregate.core.runs.history import history_after, with_history_of
from scoregate.core.runs.run import (
    BaseReference,
    Conditions,
    Confirmation,
    ReusedRun,
    Run,
    RunShard,
    StableCase,
    SuiteResult,
)
from tests.golden.archive import pack_worlds
from tests.unit.report.runs import NOW, ExampleSuite, Score, Trial, make_run

INFO = (EvaluatorInfo("accuracy", Fingerprint(source="s")), EvaluatorInfo("tone", Fingerprint(source="t")))
SOURCE = CarriedFrom("run-a1b2c3d", "main@a1b2c3d", NOW - 7230)
CASES = 40
Change = Callable[[Run], Run]
ChangeTrial = Callable[[Trial, int, str], Trial]


@dataclass
class World:
    """What features change.

    Attributes:
        settings: the keys of `scoregate.toml`.
        commands: the command lines; empty for those that suit the features.
        pool: the ids of more runs of the base's commit; `past` of runs before it.
    """

    settings: dict[str, Any] = field(
        default_factory=lambda: {"fail_on_regression": True, "min_pass_rate": 0.5, "max_cost": 500.0}
    )
    low: range = range(4)
    base_low: range = range(0)
    change_trial: list[ChangeTrial] = field(default_factory=list)
    change_run: list[Change] = field(default_factory=list)
    change_base: list[Change] = field(default_factory=list)
    pool: bool = False
    past: bool = False
    has_base: bool = True
    files: dict[str, str] = field(default_factory=dict)


def make_trials(world: World, side: str, low: range) -> Iterator[Trial]:
    for at in range(CASES):
        trial = Trial(
            f"c{at}",
            [Score("accuracy", float(at not in low)), Score("tone", 1.0 if at % 7 else 0.95)],
            name=f"case {at}",
            duration_ms=100.0 + at,
            usage=Usage(10, 5, cost=0.01 * (at + 1), calls=1, model="m"),
            digest=f"d{at}",
            input={"lang": "fr" if at % 2 else "en"},
        )
        for change in world.change_trial:
            trial = change(trial, at, side)
        yield trial


def make_suites(world: World, side: str, low: range) -> tuple[ExampleSuite, ExampleSuite]:
    usage = Usage(3, 2, cost=0.02, calls=1, model="m")
    others = [Trial(f"o{at}", [Score("accuracy", float(at % 5 != 0))], usage=usage) for at in range(20)]
    return ExampleSuite("demo", list(make_trials(world, side, low)), INFO), ExampleSuite("other", others, INFO[:1])


def on_suite(run: Run, change: Callable[[SuiteResult], SuiteResult], name: str = "demo") -> Run:
    return replace(run, suites=tuple(change(suite) if suite.id == name else suite for suite in run.suites))


def mark_reused(run: Run, rows: Sequence[int], name: str = "demo") -> Run:
    """Mark the trials of some rows as measured by an earlier run."""
    place = next(at for at, suite in enumerate(run.suites) if suite.id == name)
    hashes = {run.suites[place].columns.hashes[row] for row in rows}
    cases = [replace(case, reused="old") if case.suite == place and case.hash in hashes else case for case in run.cases]
    return replace(run, read=lambda: iter(cases))


FEATURES: dict[str, Callable[[World], None]] = {}


def feature(change: Callable[[World], None]) -> Callable[[World], None]:
    FEATURES[change.__name__] = change
    return change


@feature
def carried(w: World) -> None:
    w.change_run.append(lambda run: on_suite(run, lambda suite: replace(suite, carried=SOURCE)))


@feature
def kept(w: World) -> None:
    w.change_run.append(
        lambda run: on_suite(mark_reused(run, range(20, 40)), lambda suite: replace(suite, kept=SOURCE))
    )


@feature
def resumed(w: World) -> None:
    w.change_run.append(
        lambda run: replace(
            mark_reused(run, range(10)), reused_from=ReusedRun("old", NOW - 500, NOW - 400, 1), attempt=2
        )
    )


@feature
def quarantine(w: World) -> None:
    w.files[".scoregate/quarantine.toml"] = (
        '[[quarantine]]\ncase = "case 1"\nowner = "bo"\nreason = "the clock"\nuntil = 2999-12-31\n\n'
        '[[quarantine]]\ncase = "case 3*"\nowner = "bo"\nreason = "x"\nuntil = 2999-12-31\n'
    )
    w.change_base.append(lambda run: replace(run, stable_cases=(StableCase("demo", "c1", 7),)))


@feature
def accepted(w: World) -> None:
    w.files[".scoregate/accepted.toml"] = (
        '[[accepted]]\nsuite = "demo"\nevaluator = "accuracy"\nuntil = 2999-12-31\nreason = "parser"\nby = "ana"\n'
        "at_most = 0.3\n"
    )


@feature
def decline(w: World) -> None:
    w.settings["max_decline"] = 0.05


@feature
def slices(w: World) -> None:
    w.settings |= {"max_slice_drop": {"lang=*": 0.05}, "slices": ["lang"]}


@feature
def extras(w: World) -> None:
    def add(run: Run) -> Run:
        extra = make_run(*make_suites(w, "extra", range(3)), commit="eeeeeee")
        return replace(run, extras=(extra,))

    w.change_run.append(add)
    w.change_base.append(add)


@feature
def control(w: World) -> None:
    w.settings["drift_control"] = 0.1

    def add(run: Run) -> Run:
        return replace(
            run, control=replace(make_run(*make_suites(w, "control", range(2)), commit="a1b2c3d"), id="control")
        )

    w.change_run.append(add)


@feature
def confirm(w: World) -> None:
    w.settings["fail_on_critical"] = True
    tries = (Confirmation("demo", "c0", (True, True)), Confirmation("demo", "c2", (False, False, False)))
    w.change_run.append(lambda run: replace(run, confirmations=tries))


@feature
def critical(w: World) -> None:
    w.settings["fail_on_critical"] = True
    w.change_trial.append(lambda trial, at, _: replace(trial, tags=("critical",) if at < 3 else ("x",)))


@feature
def shard(w: World) -> None:
    w.change_run.append(lambda run: replace(run, shard=RunShard("p", 1, 3, "i")))


@feature
def selection(w: World) -> None:
    w.change_run.append(lambda run: replace(run, selection="-k case"))


@feature
def filtered(w: World) -> None:
    w.change_run.append(
        lambda run: replace(
            run,
            suites=run.suites[:1],
            filters=("demo",),
            left_out=("other",),
            read=lambda: (case for case in run.cases if case.suite == 0),
            scripts=run.scripts[:1],
        )
    )


@feature
def stopped(w: World) -> None:
    w.change_run.append(lambda run: replace(run, stopped="2 cases failed", complete=False))


@feature
def pool(w: World) -> None:
    w.pool = True


@feature
def past(w: World) -> None:
    w.past = True
    w.settings["base_runs"] = 4


@feature
def errors(w: World) -> None:
    error = ErrorInfo("ValueError", "boom")
    w.change_trial.append(
        lambda trial, at, side: replace(trial, error=error, scores=()) if side == "run" and at in (5, 6) else trial
    )


@feature
def unscored(w: World) -> None:
    w.change_trial.append(
        lambda trial, at, side: (
            replace(trial, scores=[Score("tone")], unscored=("accuracy",))
            if side == "run" and at in (7, 8, 9)
            else trial
        )
    )


@feature
def unpriced(w: World) -> None:
    usage = Usage(10, 5, model="new", unpriced="new")
    w.change_trial.append(lambda trial, at, _: replace(trial, usage=usage) if at == 11 else trial)


@feature
def shared_usage(w: World) -> None:
    usage = Usage(100, 50, cost=2.0, calls=3)
    w.change_run.append(
        lambda run: replace(
            run,
            scripts=tuple(replace(script, usage=usage) if "demo" in script.name else script for script in run.scripts),
        )
    )


@feature
def ratios(w: World) -> None:
    w.settings |= {"max_cost_ratio": 1.1, "max_p95_ratio": 1.1, "max_tokens_ratio": 1.1, "max_p95_ms": 1000.0}


@feature
def no_base(w: World) -> None:
    w.has_base = False


@feature
def unscaled(w: World) -> None:
    w.change_trial.append(
        lambda trial, at, _: replace(trial, scores=[Score("accuracy", 1.0), Score("tone", 7.0)]) if at == 13 else trial
    )


def _apply(run: Run, changes: Sequence[Change]) -> Run:
    for change in changes:
        run = change(run)
    return run


def _with_dependencies(run: Run) -> Run:
    """What its scripts depend on, so that earlier runs are evidence."""
    table = (Dependency("file", "evals/demo.py", "f1"), Dependency("file", "evals/other.py", "f2"))
    scripts = tuple(ScriptDependencies(script.name, "launch", (at,)) for at, script in enumerate(run.scripts))
    return replace(run, conditions=Conditions("code", "settings"), dependencies=RunDependencies(table, scripts))


def write_world(folder: Path, names: Sequence[str]) -> None:
    """Write the project of a world."""
    world = World()
    for name in names:
        FEATURES[name](world)
    if world.has_base:
        world.settings["baseline"] = "base"
    else:
        world.settings["baseline"] = "none"
    folder.mkdir(parents=True)
    (folder / "scoregate.toml").write_text(
        "".join(f"{key} = {_toml(value)}\n" for key, value in world.settings.items())
    )
    for name, text in world.files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    policy = asdict(load_settings(folder, {}).policy())
    base = None
    if world.has_base:
        base = make_run(
            *make_suites(world, "base", world.base_low),
            commit="a1b2c3d",
            branch="main",
            started=NOW - 7300,
            finished=NOW - 7230,
            policy=policy,
            message="Add cases",
        )
        base = _with_dependencies(_apply(base, world.change_base))
        older = [
            replace(base, id=f"h{at}", commit=f"{at}" * 40, finished=NOW - 90000 + at, extras=()) for at in range(1, 4)
        ]
        for each in older:
            base = with_history_of(base, history_after(with_history_of(each, base.history)))
        write_base(folder / "base", base, world)
    run = _with_dependencies(make_run(*make_suites(world, "run", world.low), policy=policy, message="Try a prompt"))
    run = _apply(run, world.change_run)
    if base is not None:
        run = with_history_of(run, history_after(base))
        run = replace(run, compared_with=BaseReference(base.id, base.name, "base"))
    write_run(folder / "scoregate-out" / "run", run)


def write_base(folder: Path, base: Run, world: World) -> None:
    """Write the base; with more runs, each into a folder of its own."""
    more = []
    if world.pool:
        more.append(replace(base, id="p2", finished=base.finished - 10, extras=()))
    if world.past:
        more.append(replace(base, id="p3", commit="f" * 40, finished=base.finished - 20, extras=()))
    if not more:
        write_run(folder, base)
        return
    for name, run in zip(("newest", "second", "third"), (base, *more), strict=False):
        write_run(folder / name, run)


def write_run(folder: Path, run: Run) -> None:
    """Write a run with its extra trials and its drift control."""
    run = replace(run, version="0.0.1")  # never that of the scoregate that reads it
    with RunWriter(folder) as writer:
        for case in run.cases:
            writer.add(case)
        writer.finish(run)
    for at, extra in enumerate(run.extras, 1):
        write_run(folder / f"extra-{at}", extra)
    if run.control is not None:
        write_run(folder / "control", run.control)
    read_run(folder)


def choose_commands(names: Sequence[str]) -> list[list[str]]:
    """The commands of a world; a pair has only those that its features show in."""
    is_pair = len(names) > 1
    formats = ["markdown"]
    if not is_pair or {"extras", "control", "confirm"} & set(names):
        formats += ["junit", "html"]
    if not is_pair or {"errors", "quarantine"} & set(names):
        formats += ["ctrf"]
    commands = [["gate", "--json"], *(["report", "--format", form] for form in formats)]
    commands.append(["merge", "scoregate-out", "--out", "merged"])
    if not is_pair or {"carried", "kept", "resumed", "unpriced", "shared_usage"} & set(names):
        commands.append(["history", "import"])
    return commands


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f'"{key}" = {_toml(each)}' for key, each in value.items()) + " }"
    return json.dumps(value)


def main() -> None:
    """Write every feature alone and every pair."""
    pairs = [(), *((name,) for name in FEATURES), *itertools.combinations(FEATURES, 2)]
    with tempfile.TemporaryDirectory() as folder:
        for names in pairs:
            world = Path(folder) / ("+".join(names) or "plain")
            write_world(world / "project", names)
            known = {"about": ", ".join(names) or "no feature", "commands": choose_commands(names)}
            (world / "world.json").write_text(json.dumps(known))
        pack_worlds(Path(folder), "worlds")
    print(len(pairs), "worlds")


if __name__ == "__main__":
    main()
