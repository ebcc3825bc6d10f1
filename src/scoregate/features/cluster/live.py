"""The progress of a run in parts, as observers of a run on one machine see it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from scoregate.kernel.run.launch import LaunchLayer, count_calls
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.model_calls import CallTotals
from scoregate.kernel.types.runs.reducer import SuiteReducer
from scoregate.kernel.types.runs.tally import Tally


@dataclass(slots=True)
class LiveRecording:
    """The progress of all parts.

    Attributes:
        stage: the name of the folder of the run.
        launches: the number of scripts.
        layers: what serves launches on all workers.
        read_tallies: the progress of every suite in every part.
        is_open: whether a script has a part that has not ended.
        finished: the trials that the last event finished, each with its suite.
        message: the message of the run.
    """

    stage: str
    launches: int
    layers: Sequence[LaunchLayer] = ()
    read_tallies: Callable[[], Iterable[tuple[str, Tally]]] = tuple
    is_open: Callable[[str], bool] = bool
    finished: list[tuple[SuiteReducer, CaseResult]] = field(default_factory=list)
    message: str | None = None
    _started: set[str] = field(default_factory=set)

    def start(self, script: str) -> bool:
        """Whether this is the first start of a script."""
        is_first = script not in self._started
        self._started.add(script)
        return is_first

    def count_calls(self) -> CallTotals | None:
        """The calls of models so far; None if they aren't counted."""
        return count_calls(self.layers)

    def tallies(self) -> Iterator[tuple[str, Tally]]:
        """How far every suite is, each with its script; the parts of a suite are one suite."""
        merged: dict[tuple[str, str], list[Tally]] = {}
        for script, tally in self.read_tallies():
            merged.setdefault((script, tally.label), []).append(tally)
        for (script, _), tallies in merged.items():
            yield script, _merge(tallies, is_open=self.is_open(script))


def _merge(tallies: list[Tally], *, is_open: bool) -> Tally:
    done = sum(each.done for each in tallies)
    planned = [each.planned for each in tallies]
    durations = [each.duration_s for each in tallies if each.duration_s is not None]
    states = {status: 0 for each in tallies for status in each.states}
    means: dict[str, list[tuple[float, int]]] = {}
    for each in tallies:
        for status, number in each.states.items():
            states[status] += number
        for name, mean in each.means.items():
            means.setdefault(name, []).append((mean, max(1, each.cases)))
    rates = [(rate, max(1, each.cases)) for each in tallies if (rate := each.pass_rate) is not None]
    return replace(
        tallies[0],
        log="",
        # A sum of some parts would look like the number of all cases.
        planned=None if None in planned else sum(number or 0 for number in planned),
        done=done,
        states=states,
        means={name: _average(known) for name, known in means.items()},
        repeated_rate=_average(rates) if any(each.repeated_rate is not None for each in tallies) else None,
        cost=sum(each.cost for each in tallies),
        finished=not is_open and all(each.finished for each in tallies),
        duration_s=sum(durations) if durations else None,
        cases=sum(each.cases for each in tallies),
    )


def _average(known: list[tuple[float, int]]) -> float:
    """The mean of all cases, from the mean and the number of those of each part."""
    return sum(mean * cases for mean, cases in known) / sum(cases for _, cases in known)
