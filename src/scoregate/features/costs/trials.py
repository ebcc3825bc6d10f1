"""What each trial of a stored run used, at current prices, with and without the answers that the cache has now."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import isnan
from typing import NamedTuple

from scoregate.features.costs.pricing import Pricing, name_model
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.run import Run, SuiteResult
from scoregate.kernel.types.selection import CaseLabels
from scoregate.kernel.types.usage import ANSWER_SEPARATOR

_MOST_UNPRICED = 50
_MOST_MODELS, _LONGEST_NAME = 200, 100


class Amounts(NamedTuple):
    """What calls of models use: their number, tokens, and US dollars."""

    calls: float = 0.0
    input_tokens: float = 0.0
    output_tokens: float = 0.0
    cached_tokens: float = 0.0
    cost: float = 0.0

    def plus(self, other: Amounts) -> Amounts:
        """The sum."""
        return Amounts(*(one + two for one, two in zip(self, other, strict=True)))

    def times(self, factor: float) -> Amounts:
        """The multiple."""
        return Amounts(*(each * factor for each in self))


def sum_amounts(amounts: Iterable[Amounts]) -> Amounts:
    """The sum."""
    total = Amounts()
    for each in amounts:
        total = total.plus(each)
    return total


@dataclass(slots=True)
class Part:
    """The calls of one evaluator, or of the function under test, in one trial.

    Attributes:
        evaluator: the evaluator; empty for the function under test.
        full: what the calls use if no answer is stored; None if unknown, because all were answered from a store that
            does not say what they used.
        answers: the names of the answers.
        calls: the number of calls.
    """

    evaluator: str
    full: Amounts | None
    answers: tuple[str, ...]
    calls: int


@dataclass(slots=True)
class Trial:
    """One trial of a case.

    `full` is what it uses without stored answers, `now` with those that the cache has, `stored` how many these are.
    """

    labels: CaseLabels
    repeat: int
    parts: tuple[Part, ...] = ()
    full: Amounts = field(default_factory=Amounts)
    now: Amounts = field(default_factory=Amounts)
    stored: float = 0.0
    is_known: bool = True


@dataclass(slots=True)
class SuiteTrials:
    """The trials of one suite of a stored run.

    Attributes:
        suite: the suite.
        trials: its trials.
        unpriced: the models without a known price.
        rest: the usage of the suite that belongs to no case, for the whole suite.
        models: the models that were called, with the evaluators that called them.
        unknown_calls: calls that were answered from a store and are not stored now; what they cost is not known.
        stored_calls: likewise, but stored now, without a usage: they cost nothing if the same is asked, and else it is
            not known.
    """

    suite: SuiteResult
    trials: list[Trial] = field(default_factory=list)
    unpriced: set[str] = field(default_factory=set)
    rest: Amounts = field(default_factory=Amounts)
    models: dict[tuple[str, str], None] = field(default_factory=dict)
    unknown_calls: int = 0
    stored_calls: int = 0


def _read_no_usage(_: Collection[str]) -> Mapping[str, Usage]:
    return {}


@record
class AnswerStore:
    """The answers that are stored now.

    Attributes:
        find: returns those names of answers that a run would take from the store.
        read_usage: returns what answers reported when they were asked for, as far as they are stored, by name.
    """

    find: Callable[[Collection[str]], Collection[str]]
    read_usage: Callable[[Collection[str]], Mapping[str, Usage]] = _read_no_usage


def read_trials(run: Run, pricing: Pricing, store: AnswerStore) -> dict[int, SuiteTrials]:
    """Read what the trials of a stored run used, by the index of the suite.

    Args:
        run: the run.
        pricing: prices its calls.
        store: the answers that are stored now.

    Raises:
        RecordError: the cases can't be read.
    """
    suites = {index: SuiteTrials(suite) for index, suite in enumerate(run.suites)}
    for each in suites.values():
        if (usage := each.suite.usage) is not None:
            each.rest = _read_part("", usage, pricing, each).full or Amounts()
    used = {index for index, suite in enumerate(run.suites) if _has_usage(suite)}
    # Without tokens the columns are enough, and no case of the suite is parsed.
    for index in suites.keys() - used:
        columns = run.suites[index].columns
        keys = ((columns.hashes[row], columns.repeats[row]) for row in range(len(columns)))
        suites[index].trials = [Trial(CaseLabels(each), repeat) for each, repeat in keys]
    for case in run.cases if used else ():
        if case.suite in used:
            suites[case.suite].trials.append(_read_trial(case, pricing, suites[case.suite]))
    _price_stored(suites.values(), pricing, store)
    _apply_cache(suites.values(), store)
    return suites


def _has_usage(suite: SuiteResult) -> bool:
    """Whether a model was called in any trial."""
    return not all(map(isnan, suite.columns.tokens))


def _read_trial(case: CaseResult, pricing: Pricing, suite: SuiteTrials) -> Trial:
    parts = tuple(_read_part(name, usage, pricing, suite) for name, usage in _list_usages(case))
    return Trial(CaseLabels(case.hash, case.name, case.tags), case.repeat, parts)


def _list_usages(case: CaseResult) -> Iterator[tuple[str, Usage]]:
    if case.usage is not None:
        yield "", case.usage
    for judgements in (case.evaluations, case.labels):
        for name, each in judgements.items():
            if each.usage is not None:
                yield name, each.usage
    for error in case.errors:
        if error.usage is not None:
            yield error.evaluator or "", error.usage


def _read_part(evaluator: str, usage: Usage, pricing: Pricing, suite: SuiteTrials) -> Part:
    calls = max(0, usage.calls)
    if usage.model and len(suite.models) < _MOST_MODELS:
        suite.models.update(((name[:_LONGEST_NAME], evaluator), None) for name in usage.model.split(", "))
    answers = () if pricing.is_renamed(usage) or not usage.answer else tuple(usage.answer.split(ANSWER_SEPARATOR))
    stored = calls if usage.cached else min(calls, max(0, usage.stored))
    if calls and stored == calls:
        return Part(evaluator, None, answers, calls)
    paid_calls = calls - stored
    amounts = _price_usage(usage, paid_calls, pricing, suite)
    # Without stored answers, all calls cost what the paid ones did.
    return Part(evaluator, amounts.times(calls / paid_calls if paid_calls else 1.0), answers, calls)


def _price_usage(usage: Usage, calls: int, pricing: Pricing, suite: SuiteTrials) -> Amounts:
    cost = pricing.find_cost(usage)
    if cost is None and (usage.input_tokens or usage.output_tokens) and len(suite.unpriced) < _MOST_UNPRICED:
        suite.unpriced.add(name_model(usage))
    elif cost == usage.cost and usage.unpriced and len(suite.unpriced) < _MOST_UNPRICED:
        suite.unpriced.update(name[:_LONGEST_NAME] for name in usage.unpriced_models)
    read, written, from_cache = max(0, usage.input_tokens), max(0, usage.output_tokens), max(0, usage.cached_tokens)
    return Amounts(calls, read, written, from_cache, max(0.0, cost or 0.0))


def _price_stored(suites: Iterable[SuiteTrials], pricing: Pricing, store: AnswerStore) -> None:
    """Set what calls use that were all answered from the store: what these answers reported at first."""
    waiting = [(suite, part) for suite in suites for trial in suite.trials for part in trial.parts if part.full is None]
    known = store.read_usage({name for _, part in waiting for name in part.answers}) if waiting else {}
    for suite, part in waiting:
        if len(part.answers) == part.calls and all(name in known for name in part.answers):
            part.full = sum_amounts(_price_usage(known[name], 1, pricing, suite) for name in part.answers)


def _apply_cache(suites: Iterable[SuiteTrials], store: AnswerStore) -> None:
    """Set what each trial uses without stored answers, and with those that are stored now."""
    suites = tuple(suites)
    parts = [part for suite in suites for trial in suite.trials for part in trial.parts]
    stored = store.find({name for part in parts for name in part.answers})
    for suite in suites:
        means = _compute_means(suite)
        for trial in suite.trials:
            for part in trial.parts:
                share = sum(name in stored for name in part.answers) / max(1, len(part.answers))
                amounts = part.full or means.get(part.evaluator, Amounts()).times(part.calls)
                if part.full is None and part.evaluator not in means:
                    suite.stored_calls += part.calls if share == 1 else 0
                    suite.unknown_calls += part.calls if share < 1 else 0
                    trial.is_known = trial.is_known and share == 1
                trial.stored += part.calls * share
                trial.full = trial.full.plus(amounts)
                trial.now = trial.now.plus(amounts.times(1 - share))


def _compute_means(suite: SuiteTrials) -> dict[str, Amounts]:
    """What a call of each evaluator uses on average, where that is known."""
    known = defaultdict[str, list[Part]](list)
    for trial in suite.trials:
        for part in trial.parts:
            if part.full is not None and part.calls:
                known[part.evaluator].append(part)
    return {
        name: sum_amounts(part.full or Amounts() for part in parts).times(1 / sum(part.calls for part in parts))
        for name, parts in known.items()
    }
