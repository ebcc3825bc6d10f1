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
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.golden.archive import pack_worlds
from tests.unit.report.runs import NOW, ExampleSuite, Score, Trial, make_run

from scoregate.ci.archive import RunWriter, read_run
from scoregate.ci.settings import load_settings
from scoregate.core.evaluation import Usage
from scoregate.core.event_values import ErrorInfo, EvaluatorInfo, Fingerprint
from scoregate.core.runs.arms import EXPECTATIONS, TRIGGERED
from scoregate.core.runs.cases import CaseResult
from scoregate.core.runs.dependencies import CarriedFrom, Dependency, RunDependencies, ScriptDependencies
from scoregate.core.runs.history import history_after, with_history_of
from scoregate.core.runs.past_runs import History
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

INFO = (EvaluatorInfo("accuracy", Fingerprint(source="s")), EvaluatorInfo("tone", Fingerprint(source="t")))
SKILL_INFO = (EvaluatorInfo(EXPECTATIONS, Fingerprint(source="e")), EvaluatorInfo(TRIGGERED, Fingerprint(source="r")))
OLDEST, BASE = "9" * 40, "a1b2c3d" + "0" * 33
SOURCE = CarriedFrom("run-a1b2c3d", "main@a1b2c3d", NOW - 7230)
CASES = 40
# The failing cases of each side; those from 20 on are the same in the run as in the base, so that they can be kept.
FAILING = {
    "run": {0, 1, 2, 3, 4, 30, 31},
    "base": {8, 30, 31},
    "extra": {0, 1, 2},
    "base extra": {8},
    "control": {0, 1, 8},
    "second": {8, 9, 31, 32},
    "past": {8, 30, 33, 34},
    "oldest": set(),
}
Change = Callable[[Run], Run]
ChangeTrial = Callable[[Trial, int, str], Trial]


@dataclass
class World:
    """What features change.

    Attributes:
        settings: the keys of `scoregate.toml`.
        from_base: the cases whose results the run has from its base.
        change_trial: called with each trial, its number and its side.
        sides: the sides with a run each: more runs of the base's commit (`second`) and of commits before it.
    """

    settings: dict[str, Any] = field(
        default_factory=lambda: {"fail_on_regression": True, "min_pass_rate": 0.5, "max_cost": 500.0}
    )
    failing: dict[str, set[int]] = field(default_factory=lambda: dict(FAILING))
    from_base: range = range(0)
    change_trial: list[ChangeTrial] = field(default_factory=list)
    change_run: list[Change] = field(default_factory=list)
    change_base: list[Change] = field(default_factory=list)
    base_settings: dict[str, Any] = field(default_factory=dict)
    sides: list[str] = field(default_factory=list)
    has_arms: bool = False
    has_base: bool = True
    in_job: bool = False
    extra_cases: range = range(0)
    repeats: int = 1
    files: dict[str, str] = field(default_factory=dict)


def make_trials(world: World, side: str) -> Iterator[Trial]:
    """The trials of a side; the run has those of the base where it reuses them."""
    for at, repeat in itertools.product(range(CASES), range(world.repeats)):
        trial = make_trial(world, at, "base" if side == "run" and at in world.from_base else side)
        yield replace(trial, repeat=repeat)


def make_trial(world: World, at: int, side: str) -> Trial:
    dearer = 1.3 if side == "run" else 1.0
    trial = Trial(
        f"c{at}",
        [Score("accuracy", float(at not in world.failing[side])), Score("tone", 1.0 if at % 7 else 0.95)],
        name=f"case {at}",
        duration_ms=(100.0 + at) * dearer,
        usage=Usage(round(10 * dearer), 5, cost=round(0.01 * (at + 1) * dearer, 4), calls=1, model="m"),
        digest=f"d{at}",
        input={"lang": "fr" if at % 2 else "en"},
    )
    for change in world.change_trial:
        trial = change(trial, at, side)
    return trial


def make_suites(world: World, side: str) -> list[ExampleSuite]:
    usage = Usage(3, 2, cost=0.02, calls=1, model="m")
    others = [Trial(f"o{at}", [Score("accuracy", float(at % 5 != 0))], usage=usage) for at in range(20)]
    suites = [ExampleSuite("demo", list(make_trials(world, side)), INFO), ExampleSuite("other", others, INFO[:1])]
    return suites + (make_arms(side) if world.has_arms else [])


class ArmSuite(ExampleSuite):
    """An arm: its first event has the parameters."""

    def events(self) -> Iterator[Any]:  # type: ignore[override]
        first, *others = super().events()
        yield replace(first, params={"task": "without"})
        yield from others


def make_arms(side: str) -> list[ExampleSuite]:
    """A suite of an agent with a skill, and its arm without it."""
    low = 4 if side == "run" else 1
    usage = Usage(200, 20, cost=0.5, calls=2, model="agent")
    error = ErrorInfo("ValueError", "no answer")
    with_skill = [
        Trial(f"s{at}", [Score(EXPECTATIONS, float(at >= low)), Score(TRIGGERED, float(at >= 2))], usage=usage)
        for at in range(20)
    ]
    without = [
        Trial(f"s{at}", [Score(EXPECTATIONS, float(at >= 10), None)], usage=usage, error=error if at == 19 else None)
        for at in range(20)
    ]
    without[19] = replace(without[19], scores=())
    return [ExampleSuite("pdf", with_skill, SKILL_INFO), ArmSuite("pdf", without, SKILL_INFO[:1])]


def on_suite(run: Run, change: Callable[[SuiteResult], SuiteResult], *names: str) -> Run:
    return replace(run, suites=tuple(change(suite) if suite.id in names else suite for suite in run.suites))


def change_cases(run: Run, change: Callable[[CaseResult], CaseResult]) -> Run:
    cases = [change(case) for case in run.cases]
    return replace(run, read=lambda: iter(cases))


def mark_reused(run: Run, rows: range) -> Run:
    """Mark the trials of some rows as measured by an earlier run."""
    names = {f"c{at}" for at in rows}
    return change_cases(run, lambda case: replace(case, reused="old") if case.hash in names else case)


FEATURES: dict[str, Callable[[World], None]] = {}
# Features that are alone and with those of `SOME` only.
FURTHER: dict[str, Callable[[World], None]] = {}
SOME = ("carried", "kept", "quarantine")


def feature(change: Callable[[World], None]) -> Callable[[World], None]:
    FEATURES[change.__name__] = change
    return change


def further(change: Callable[[World], None]) -> Callable[[World], None]:
    FURTHER[change.__name__] = change
    return change


@feature
def carried(w: World) -> None:
    w.from_base = range(CASES)
    w.change_run.append(
        lambda run: replace(
            run,
            suites=tuple(
                replace(each, carried=SOURCE) if each.id == "demo" or each.params else each for each in run.suites
            ),
        )
    )


@feature
def kept(w: World) -> None:
    w.from_base = range(20, 40)
    w.change_run.append(
        lambda run: on_suite(mark_reused(run, range(20, 40)), lambda suite: replace(suite, kept=SOURCE), "demo")
    )


@feature
def resumed(w: World) -> None:
    earlier = ReusedRun("old", NOW - 500, NOW - 400, 1)
    w.change_run.append(lambda run: replace(mark_reused(run, range(10)), reused_from=earlier, attempt=2))


@feature
def quarantine(w: World) -> None:
    w.files[".scoregate/quarantine.toml"] = (
        '[[quarantine]]\ncase = "case 1"\nowner = "bo"\nreason = "the clock"\nuntil = 2999-12-31\n\n'
        '[[quarantine]]\ncase = "case 3*"\nowner = "bo"\nreason = "x"\nuntil = 2999-12-31\n'
    )
    w.change_base.append(
        lambda run: replace(run, stable_cases=(StableCase("demo", "c1", 7), StableCase("demo", "c35", 24)))
    )


@feature
def accepted(w: World) -> None:
    w.files[".scoregate/accepted.toml"] = (
        '[[accepted]]\nsuite = "demo"\nevaluator = "accuracy"\nuntil = 2999-12-31\nreason = "parser"\nby = "ana"\n'
        'at_most = 0.3\n\n[[accepted]]\nsuite = "demo"\ncase = "case 2"\nuntil = 2999-12-31\nreason = "new"\n'
        'by = "ana"\n'
    )


@feature
def decline(w: World) -> None:
    """A push to the branch whose earlier runs `max_decline` compares with."""
    w.settings |= {"max_decline": 0.02, "decline_window": "2 runs"}
    w.in_job = True
    for side in ("run", "base", "second", "past"):
        w.failing[side] = w.failing[side] | {10, 11, 12, 13, 25, 26, 27, 28}


@feature
def slices(w: World) -> None:
    w.settings |= {"max_slice_drop": {"lang=*": 0.05}, "slices": ["lang"]}


@feature
def extras(w: World) -> None:
    w.extra_cases = range(10)


@feature
def control(w: World) -> None:
    w.settings["drift_control"] = 0.1

    def add(run: Run) -> Run:
        return replace(run, control=replace(make_run(*make_suites(w, "control"), commit="a1b2c3d"), id="control"))

    w.change_run.append(add)


@feature
def confirm(w: World) -> None:
    w.settings |= {"fail_on_critical": True, "confirm": "all"}
    tries = (
        Confirmation("demo", "c0", (True, True)),
        Confirmation("demo", "c2", (False, False, False)),
        Confirmation("demo", "c3", (False, False, False), (False, False, False)),
    )
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
    def leave_out(run: Run) -> Run:
        cases = [case for case in run.cases if case.suite == 0]
        return replace(
            run,
            suites=run.suites[:1],
            filters=("demo",),
            left_out=("other",),
            read=lambda: iter(cases),
            scripts=run.scripts[:1],
        )

    w.change_run.append(leave_out)


@feature
def stopped(w: World) -> None:
    w.change_run.append(lambda run: replace(run, stopped="2 cases failed", complete=False))


@feature
def pool(w: World) -> None:
    w.sides.append("second")


@feature
def past(w: World) -> None:
    w.sides.append("past")
    w.settings["base_runs"] = 4


@feature
def errors(w: World) -> None:
    error = ErrorInfo("ValueError", "boom")

    def fail(trial: Trial, at: int, side: str) -> Trial:
        is_error = (side == "run" and at in (5, 6)) or (side in ("base", "run") and at == 22)
        return replace(trial, error=error, scores=()) if is_error else trial

    w.change_trial.append(fail)


@feature
def unscored(w: World) -> None:
    w.change_trial.append(
        lambda trial, at, side: (
            replace(trial, scores=[Score("tone")], unscored=("accuracy",))
            if side == "run" and at in (7, 9, 14)
            else trial
        )
    )


@feature
def unpriced(w: World) -> None:
    usage = Usage(10, 5, model="new", unpriced="new")
    w.change_trial.append(lambda trial, at, _: replace(trial, usage=usage) if at in (11, 27) else trial)


@feature
def shared_usage(w: World) -> None:
    usage = Usage(100, 50, cost=2.0, calls=3)

    def add(run: Run) -> Run:
        scripts = (replace(each, usage=usage) if "demo" in each.name else each for each in run.scripts)
        return replace(on_suite(run, lambda suite: replace(suite, usage=usage), "other"), scripts=tuple(scripts))

    w.change_run.append(add)


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


@feature
def arms(w: World) -> None:
    w.has_arms = True
    w.settings["max_error_rate"] = 0.04


@feature
def limits(w: World) -> None:
    """Limits that every suite exceeds, so that findings show what counts."""
    w.settings |= {
        "min_pass_rate": 0.99,
        "max_cost": 0.1,
        "max_tokens": 20,
        "max_p95_ms": 90.0,
        "max_drop": 0.01,
        "min_score": {"accuracy": 0.99},
        "max_error_rate": 0.0,
    }


@further
def repeats(w: World) -> None:
    """Two trials of each case."""
    w.settings["repeats"] = 2
    w.repeats = 2


@further
def labels(w: World) -> None:
    w.change_trial.append(
        lambda trial, at, side: replace(trial, labels={"topic": "bill" if (at + len(side)) % 3 else "login"})
    )


@further
def errored_suite(w: World) -> None:
    error = ErrorInfo("KeyError", "no data")
    w.change_run.append(
        lambda run: on_suite(run, lambda suite: replace(suite, errors=(error,), complete=False), "other")
    )


@further
def failed_script(w: World) -> None:
    w.change_run.append(
        lambda run: replace(run, scripts=(*run.scripts[:1], replace(run.scripts[1], exit_code=1, timed_out=True)))
    )


@further
def new_suite(w: World) -> None:
    w.change_base.append(lambda run: rename_suite(run, "other", "older"))


def rename_suite(run: Run, name: str, new: str) -> Run:
    return on_suite(run, lambda suite: replace(suite, id=new, label=new), name)


@further
def unfinished(w: World) -> None:
    w.change_run.append(
        lambda run: replace(
            on_suite(run, lambda suite: replace(suite, planned=50, unfinished=2, complete=False), "demo"),
            complete=False,
        )
    )


@further
def changed_judge(w: World) -> None:
    judge = EvaluatorInfo("tone", Fingerprint(source="t", prompt="Is it kind?", model="m-2"))

    def change(suite: SuiteResult) -> SuiteResult:
        return replace(suite, evaluators={**suite.evaluators, "tone": judge})

    w.change_run.append(lambda run: on_suite(run, change, "demo"))


@further
def looser_policy(w: World) -> None:
    """The base has stricter gates, which then apply."""
    w.base_settings = {"min_pass_rate": 0.95, "max_drop": 0.05, "severity": {"regression": "fail"}}
    w.settings["severity"] = {"regression": "warn"}


@further
def worse(w: World) -> None:
    w.failing["run"] = {*range(18), 30, 31}


@further
def better(w: World) -> None:
    w.failing |= {"run": {31}, "base": {*range(16), 30, 31}}


@further
def dirty(w: World) -> None:
    w.change_run.append(lambda run: replace(run, dirty=True, notices=("the prompt is new", "read twice")))


def write_world(folder: Path, names: Sequence[str]) -> dict[str, Any]:
    """Write the project of a world; returns what else `world.json` holds."""
    world = World()
    for name in names:
        (FEATURES | FURTHER)[name](world)
    world.settings["baseline"] = ("branch" if world.in_job else "base") if world.has_base else "none"
    if world.in_job:
        world.settings["key"] = "evals"
    project = folder / "project"
    project.mkdir(parents=True)
    policy = write_settings(project, {**world.settings, **world.base_settings})
    if world.base_settings:
        policy, base_policy = write_settings(project, world.settings), policy
    else:
        base_policy = policy
    for name, text in world.files.items():
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(text)
    base = make_base(world, base_policy) if world.has_base else None
    run = make_run(*make_suites(world, "run"), policy=policy, message="Try a prompt")
    run = _apply(_with_extras(_with_dependencies(run), world, "extra"), world.change_run)
    if base is not None:
        run = with_history_of(run, history_after(base))
        run = replace(run, compared_with=BaseReference(base.id, base.name, "base"))
        bases = [base, *(make_earlier(world, base, side) for side in world.sides)]
        write_bases(project / "base", bases)
    write_run(project / "scoregate-out" / "run", run)
    if not world.in_job:
        return {}
    commits = [OLDEST]
    if base is not None:
        stored = [make_earlier(world, base, "oldest"), *reversed(bases)]
        for each in stored:
            stamp = datetime.fromtimestamp(each.finished, UTC).strftime("%Y%m%d%H%M%S")
            write_run(folder / "github" / "evals" / f"{stamp}-{each.commit}", replace(each, control=None))
        commits = list(dict.fromkeys(str(each.commit) for each in stored))
    return {"github": {"commits": [*commits, run.commit]}}


def write_settings(project: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """Write `scoregate.toml`; returns the policy that a run stores."""
    lines = (f"{key} = {_toml(value)}\n" for key, value in settings.items())
    (project / "scoregate.toml").write_text("".join(lines))
    return asdict(load_settings(project, {}).policy())


def make_base(world: World, policy: dict[str, Any]) -> Run:
    """The base, with a history in which runs move."""
    times = {"started": NOW - 7300, "finished": NOW - 7230}
    base = make_run(
        *make_suites(world, "base"), commit="a1b2c3d", branch="main", policy=policy, message="Add cases", **times
    )
    base = _apply(_with_extras(_with_dependencies(base), world, "base extra"), world.change_base)
    history = History()
    for at in range(6):
        world.failing[f"history {at}"] = set(range(at % 3 * 2)) | {30}
        earlier = make_earlier(world, base, f"history {at}")
        earlier = replace(earlier, id=f"h{at}", commit=f"{at}" * 40, finished=NOW - 90000 + at)
        history = history_after(with_history_of(earlier, history))
    return with_history_of(base, history)


def make_earlier(world: World, base: Run, side: str) -> Run:
    """Another run that is stored for the base's branch: of its commit, or of one before it."""
    run = make_run(*make_suites(world, side))
    finished, commit = {"second": (NOW - 7300, BASE), "past": (NOW - 9000, "f" * 40)}.get(side, (NOW - 90000, OLDEST))
    return replace(
        _apply(run, [_with_dependencies]),
        id=side,
        commit=commit,
        branch="main",
        policy=base.policy,
        started=finished - 60,
        finished=finished,
    )


def _apply(run: Run, changes: Sequence[Change]) -> Run:
    for change in changes:
        run = change(run)
    return run


def _with_extras(run: Run, world: World, side: str) -> Run:
    """The run with more trials of some cases, if the world has any."""
    if not world.extra_cases:
        return run
    demo, *_ = make_suites(world, side)
    chosen = replace(demo, trials=[demo.trials[at] for at in world.extra_cases])
    return replace(run, extras=(make_run(chosen, commit=str(run.commit)[:7]),))


def _with_dependencies(run: Run) -> Run:
    """What its scripts depend on, so that earlier runs are evidence."""
    table = tuple(Dependency("file", each.name, f"f{at}") for at, each in enumerate(run.scripts))
    scripts = tuple(ScriptDependencies(each.name, "launch", (at,)) for at, each in enumerate(run.scripts))
    return replace(run, conditions=Conditions("code", "settings"), dependencies=RunDependencies(table, scripts))


def write_bases(folder: Path, bases: Sequence[Run]) -> None:
    """Write the base; with more runs, each into a folder of its own."""
    if len(bases) == 1:
        write_run(folder, bases[0])
        return
    for run in bases:
        write_run(folder / run.id, run)


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


# A merge leaves out extra trials and the control of a run that is no shard.
NOT_MERGED = {"extras", "control"}
IN_HISTORY = {"carried", "kept", "resumed", "quarantine", "arms", "errors", "unpriced", "shared_usage", "stopped"}


def choose_commands(names: Sequence[str]) -> list[list[str]]:
    """All commands for a feature alone; a pair has the fewest that write every report."""
    chosen = set(names)
    gate, merge = ["gate", "--json"], ["merge", "scoregate-out", "--out", "merged"]
    if len(names) < 2:
        formats = ("markdown", "junit", "html", "ctrf")
        return [gate, *(["report", "--format", form] for form in formats), merge, ["history", "import"]]
    formats = ("markdown", "junit", "html") if chosen & NOT_MERGED else ()
    formats += ("ctrf",) if chosen & {"errors", "quarantine"} else ()
    commands = [gate] if chosen & NOT_MERGED else [merge]
    commands += [["report", "--format", form] for form in formats]
    return [*commands, ["history", "import"]] if chosen <= IN_HISTORY else commands


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f'"{key}" = {_toml(each)}' for key, each in value.items()) + " }"
    return json.dumps(value)


def main() -> None:
    """Write every feature alone and every pair."""
    pairs = [(), *((name,) for name in FEATURES), *itertools.combinations(FEATURES, 2)]
    pairs += [*((name,) for name in FURTHER), *itertools.product(SOME, FURTHER)]
    with tempfile.TemporaryDirectory() as folder:
        for names in pairs:
            world = Path(folder) / ("+".join(names) or "plain")
            more = write_world(world, names)
            known = {"about": ", ".join(names) or "no feature", "commands": choose_commands(names), **more}
            (world / "world.json").write_text(json.dumps(known))
        pack_worlds(Path(folder), "worlds")
    print(len(pairs), "worlds")


if __name__ == "__main__":
    main()
