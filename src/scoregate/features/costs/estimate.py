"""The estimate of a run, from the base's run of its suites."""

from __future__ import annotations

import heapq
import os
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from fnmatch import fnmatchcase
from functools import partial

from scoregate.features.costs.named_models import describe_caller
from scoregate.features.costs.pricing import Pricing
from scoregate.features.costs.retirements import NamedModel
from scoregate.features.costs.section import Interval, RunEstimate, sum_intervals
from scoregate.features.costs.suites import SuiteChoice, SuiteEstimate, SuiteState, estimate_suite
from scoregate.features.costs.trials import AnswerStore, SuiteTrials, read_trials, sum_amounts
from scoregate.features.table import FEATURES
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.judge.settings.limit_fields import replays_calls
from scoregate.kernel.run.plan import Launch, Plan
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.run import Run, SuiteResult, sum_costs
from scoregate.kernel.types.runs.suite_labels import suite_label
from scoregate.kernel.types.selection import CaseLabels
from scoregate.models.budget import parse_usage
from scoregate.models.cache import Cache, get_cache
from scoregate.models.calls import parse_object
from scoregate.models.settings import CacheMode, ModelSettings, load_model_settings

NO_BASE = "no base has it"


@record
class Probe:
    """What sample cases used.

    Attributes:
        run: the run of the sample cases; None if nothing was sampled.
        totals: the number of trials of each suite of a script, by script and id, as far as the suites report it.
        concurrency: how many cases of each suite run at once, likewise.
    """

    run: Run | None = None
    totals: Mapping[tuple[str, str], int] = field(default_factory=dict)
    concurrency: Mapping[tuple[str, str], int] = field(default_factory=dict)


@record
class PlanEstimate:
    """The estimate of a plan.

    Attributes:
        total: the sums.
        suites: the estimates of the suites, in the order of the plan.
        notes: what the estimate leaves out.
        called: the models that the base's trials of these suites called.
    """

    total: RunEstimate
    suites: tuple[SuiteEstimate, ...] = ()
    notes: tuple[str, ...] = ()
    called: tuple[NamedModel, ...] = ()


def estimate_plan(
    plan: Plan, settings: Settings, base: Run | None, *, same_code: bool = False, probe: Probe | None = None
) -> PlanEstimate:
    """Estimate what the suites of a plan use.

    Args:
        plan: the plan, without what a change can't affect.
        settings: the settings of the project.
        base: the base's run; None without one.
        same_code: whether code and settings are those of the base's run.
        probe: what sample cases used; None if none ran.

    Raises:
        RecordError: the cases of a run can't be read.
    """
    models = load_model_settings(settings.environment(root=plan.root))
    store = _choose_store(settings, models)
    known: dict[str, list[SuiteTrials]] = {}
    sampled: dict[str, list[SuiteTrials]] = {}
    for run, by_script in ((base, known), (probe.run if probe else None, sampled)):
        if run is not None:
            for trials in read_trials(run, Pricing.from_run(models, run), store).values():
                by_script.setdefault(trials.suite.script or "", []).append(trials)
    suites = [
        estimate
        for launch in plan.launches
        for estimate in _estimate_launch(launch, settings, known, sampled, probe or Probe(), base, same_code=same_code)
    ]
    suites = [_bound_kept_cases(each, plan) for each in suites]
    suites += _list_carried(plan)
    notes = tuple(_describe_extras(settings, base))
    called = tuple(
        NamedModel(model, f"{describe_caller(evaluator)} of suite {trials.suite.label}")
        for launch in plan.launches
        for trials in known.get(launch.name, ())
        for model, evaluator in trials.models
    )
    return PlanEstimate(_sum_suites(plan, settings, suites, base), tuple(suites), notes, called)


def _choose_store(settings: Settings, models: ModelSettings) -> AnswerStore:
    """The stored answers: all of them if cassettes are replayed, none if the cache isn't read."""
    if replays_calls(settings):
        return AnswerStore(lambda names: names)
    cache = get_cache(models.cache_folder, writes=False)
    is_read = models.cache not in (CacheMode.OFF, CacheMode.REFRESH)
    return AnswerStore(cache.find_names if is_read else lambda _: (), partial(_read_usage, cache))


def _read_usage(cache: Cache, names: Collection[str]) -> dict[str, Usage]:
    found = {}
    for name, model, body in cache.read_answers(names):
        if (usage := parse_usage(parse_object(body), model)) is not None:
            found[name] = usage
    return found


def _estimate_launch(
    launch: Launch,
    settings: Settings,
    known: Mapping[str, Sequence[SuiteTrials]],
    sampled: Mapping[str, Sequence[SuiteTrials]],
    probe: Probe,
    base: Run | None,
    *,
    same_code: bool,
) -> Iterator[SuiteEstimate]:
    is_probed = launch.name not in known
    suites = sampled.get(launch.name, ()) if is_probed else known[launch.name]
    takes = [each for each in suites if _takes_suite(settings, each.suite.id)]
    if not takes:
        yield SuiteEstimate(launch.name, launch.name, SuiteState.NONE, note=_explain_none(launch, probe))
        return
    for trials in takes:
        suite = trials.suite.id
        choice = SuiteChoice(
            takes=None if is_probed else _choose_cases(settings, launch, trials.suite),
            sample=settings.selection.sample,
            max_cases=settings.max_cases,
            repeats=None if is_probed else _find_repeats(settings, base, trials),
            total=probe.totals.get((launch.name, suite)),
            same_code=same_code or is_probed,
            concurrency=probe.concurrency.get((launch.name, suite)) if is_probed else None,
        )
        state = SuiteState.PROBE if is_probed else SuiteState.BASE
        estimate = estimate_suite(trials, launch.name, choice, state=state)
        yield estimate if base is None else _fill_from_history(estimate, trials, base)


def _fill_from_history(estimate: SuiteEstimate, trials: SuiteTrials, base: Run) -> SuiteEstimate:
    """The estimate with the last known cost, if all answers of the base's run came from a cache that may not help."""
    if estimate.cost is not None or not (trials.unknown_calls or trials.stored_calls):
        return estimate
    took = base.history.suite_history(estimate.label).took
    costs = [each.cost for each in took if each is not None and each.cost]
    if not costs:
        return estimate
    note = f"{estimate.note}; the cost is that of an earlier run"
    return replace(estimate, cost=Interval(0.0, costs[-1], max(costs)), note=note)


def _explain_none(launch: Launch, probe: Probe) -> str:
    """Why a script has no estimate."""
    scripts = {each.name: each for each in (probe.run.scripts if probe.run is not None else ())}
    if launch.name not in scripts:
        return NO_BASE if probe.run is None else f"{NO_BASE}, and its cases can't be sampled"
    error = scripts[launch.name].error
    return f"{NO_BASE}, and its sample cases did not run" + (f": {error.message:.200}" if error is not None else "")


def _takes_suite(settings: Settings, suite: str) -> bool:
    return not settings.filters or any(fnmatchcase(suite, glob) for glob in settings.filters)


def _choose_cases(settings: Settings, launch: Launch, suite: SuiteResult) -> _CaseFilter | None:
    if not settings.selection.is_filter:
        return None
    label = suite_label(suite.id, suite.params)
    return _CaseFilter(settings, launch.source.path, launch.name, suite.id, label)


@record
class _CaseFilter:
    """Whether a case of a suite runs."""

    settings: Settings
    path: str
    launch: str
    suite: str
    label: str

    def __call__(self, labels: CaseLabels) -> bool:
        return self.settings.selection.takes_case(self.path, self.launch, self.suite, labels, self.label)


def _find_repeats(settings: Settings, base: Run | None, trials: SuiteTrials) -> tuple[int, int] | None:
    """How often a case runs now, and how often it did; None where cases choose that themselves."""
    suite = trials.suite.id
    before = _read_repeats(base.settings if base is not None else None, suite)
    counts = defaultdict[str, int](int)
    for trial in trials.trials:
        counts[trial.labels.hash] += 1
    usual = max(counts.values(), default=1, key=lambda number: sum(each == number for each in counts.values()))
    now = settings.environment((suite,)).get("SCOREGATE_REPEATS")
    if now is not None:
        return int(now), usual
    return (1, before) if before is not None and before == usual else None


def _read_repeats(file_values: Mapping[str, object] | None, suite: str) -> int | None:
    """The repeats that the settings file of a stored run set for a suite."""
    values = file_values or {}
    tables = values.get("suites")
    repeats = [values.get("repeats")]
    for glob, table in tables.items() if isinstance(tables, dict) else ():
        if isinstance(table, dict) and fnmatchcase(suite, str(glob)) and "repeats" in table:
            repeats.append(table["repeats"])
    numbers = [each for each in repeats if isinstance(each, int) and not isinstance(each, bool)]
    return numbers[-1] if numbers else None


def _bound_kept_cases(estimate: SuiteEstimate, plan: Plan) -> SuiteEstimate:
    """The estimate of all cases as an upper bound, if only those whose rows changed run: the suite finds out which."""
    files = () if plan.kept is None else plan.kept.scripts.get(estimate.script, ())
    if not files:
        return estimate
    note = f"all its cases; only those whose rows in {', '.join(files)} changed will run"
    cost = None if estimate.cost is None else replace(estimate.cost, low=0.0)
    seconds = None if estimate.seconds is None else replace(estimate.seconds, low=0.0)
    return replace(estimate, cost=cost, seconds=seconds, note="; ".join(filter(None, (note, estimate.note))))


def _list_carried(plan: Plan) -> Iterator[SuiteEstimate]:
    if plan.carried is None:
        return
    for suite in plan.carried.run.suites:
        if suite.script in plan.carried.scripts:
            columns = suite.columns
            yield SuiteEstimate(
                suite.label,
                suite.script or "",
                SuiteState.NOT_AFFECTED,
                columns.case_count,
                0,
                cost=Interval(),
                seconds=Interval(),
                note="not affected by the change",
            )


def _sum_suites(plan: Plan, settings: Settings, suites: Sequence[SuiteEstimate], base: Run | None) -> RunEstimate:
    costs = [each.cost for each in suites if each.cost is not None and each.state is not SuiteState.NOT_AFFECTED]
    amounts = sum_amounts(each.amounts for each in suites)
    cost = sum_intervals(costs) if costs else None
    if cost is not None and plan.kept is not None:  # in doubt, no case of these suites runs
        certain = (each.cost for each in suites if each.cost is not None and each.script not in plan.kept.scripts)
        cost = replace(cost, low=sum_intervals(certain).low)
    if cost is not None and base is not None:
        cost = _add_repeats(cost, suites, settings, base)
    return RunEstimate(
        cost,
        amounts.calls,
        amounts.input_tokens,
        amounts.output_tokens,
        amounts.cached_tokens,
        _estimate_duration(plan, settings, suites, base),
        tuple(sorted({name for each in suites for name in each.unpriced})),
        tuple(each.label for each in suites if each.state is SuiteState.NONE),
        base.name if base is not None else "",
    )


def _add_repeats(cost: Interval, suites: Sequence[SuiteEstimate], settings: Settings, base: Run) -> Interval:
    """The cost with the trials that features may add: as many as in the base's run, at most their budget."""
    most = sum(each.trials.most(settings) for each in FEATURES)
    if not most:
        return cost
    added = sum(sum_costs(run) or 0.0 for run in base.companions_of(TrialRole.EXTRA))
    full = sum(each.full_cost or 0.0 for each in suites)
    return Interval(cost.low, cost.expected + added, cost.high + full * most)


def _estimate_duration(
    plan: Plan, settings: Settings, suites: Sequence[SuiteEstimate], base: Run | None
) -> Interval | None:
    """The duration of all scripts, as many at the same time as the settings allow."""
    scripts = {each.name: each.duration_s for each in (base.scripts if base is not None else ())}
    durations = {suite.label: suite.duration_s or 0.0 for suite in (base.suites if base is not None else ())}
    works = []
    for launch in plan.launches:
        own = [each for each in suites if each.script == launch.name]
        known = [each.seconds for each in own if each.seconds is not None]
        if known:
            before = sum(durations.get(each.label, 0.0) for each in own)
            overhead = max(0.0, scripts.get(launch.name, 0.0) - before)
            total = Interval(*(sum(getattr(each, name) for each in known) for name in ("low", "expected", "high")))
            works.append(Interval(total.low + overhead, total.expected + overhead, total.high + overhead))
    if not works:
        return None
    slots = settings.max_suites or os.cpu_count() or 1
    return Interval(*(_pack([getattr(each, name) for each in works], slots) for name in ("low", "expected", "high")))


def _pack(seconds: Sequence[float], slots: int) -> float:
    """How long it takes if each work starts in the first free slot."""
    ends = [0.0] * min(slots, len(seconds))
    for each in seconds:
        heapq.heappush(ends, heapq.heappop(ends) + each)
    return max(ends)


def _describe_extras(settings: Settings, base: Run | None) -> Iterator[str]:
    if settings.baseline_kind.value == "rerun":
        yield '`baseline = "rerun"` also runs the suites at the base; that is in no estimate'
    yield from filter(None, (each.trials.note(settings) for each in FEATURES))
    if base is not None and base.scope.selection:
        yield f"The base's run has only a part of the cases ({base.scope.selection:.200})"
