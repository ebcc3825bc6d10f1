"""What happens while scripts run, folded into a run that is on disk before anything is made of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from scoregate.ci.archive import RunWriter
from scoregate.ci.launch import Counted, Ended, Failed, Happening, LeftOut, Noticed, Said
from scoregate.ci.plan import Source
from scoregate.core.case import CaseResult
from scoregate.core.evaluation import Evaluation
from scoregate.core.events import ErrorInfo, SuiteStarted
from scoregate.core.fold import RunFold, SuiteFold
from scoregate.core.intake import without_invalid_numbers
from scoregate.core.record import Run, Script
from scoregate.core.tally import Tally, tally_of

_MOST_LEFT_OUT = 100
FLUSH_EVERY_S = 0.25
_FLUSH_SHARE = 20  # of our time at most one part in so many goes into flushing
_MOST_INVALID = 20
Observer = Callable[[Happening, "Recording"], None]


@dataclass(slots=True)
class _Flushed:
    """What was known besides cases when that was last flushed, and when it is to be done again."""

    state: tuple[int, ...] = ()
    due: float = 0.0


@dataclass(slots=True)
class Recording:
    """Takes in happenings; each finished trial goes to disk at once, only its scores stay in memory.

    `broken` are the sources that could not be launched at all, `launches` counts the others. Without `show_outputs`,
    what the code under test returned, and what evaluators say of it beside scores, is not kept. `finished` are the
    trials that the last happening has finished, each with its suite. `about` is what is known of the run beforehand;
    with it, what has finished is flushed to disk several times a second, so that a killed host loses none of it.
    """

    writer: RunWriter
    broken: Sequence[Source] = ()
    launches: int = 0
    show_outputs: bool = True
    about: Run | None = None
    fold: RunFold = field(default_factory=RunFold)
    scripts: list[Script] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    message: str | None = None
    finished: list[tuple[SuiteFold, CaseResult]] = field(default_factory=list)
    _counted: dict[tuple[str, str], Tally] = field(default_factory=dict)
    _left_out: dict[str, None] = field(default_factory=dict)
    _invalid: int = 0
    _failures: dict[str, list[ErrorInfo]] = field(default_factory=dict)
    _suite_events: int = 0
    _flushed: _Flushed = field(default_factory=_Flushed)

    def take(self, happening: Happening) -> None:
        """Take in one."""
        self._take(happening)
        self.flush_if_due()

    def _take(self, happening: Happening) -> None:
        self.finished.clear()
        if isinstance(happening, Said):
            self._said(happening)
        elif isinstance(happening, Counted):
            self._counted[happening.script, happening.tally.log] = happening.tally
        elif isinstance(happening, Ended):
            self.scripts.append(self._ended(happening.script))
        elif isinstance(happening, Failed):
            self._failures.setdefault(happening.script, []).append(happening.error)
        elif isinstance(happening, LeftOut):
            self._leave_out(happening)
        elif isinstance(happening, Noticed):
            self.notices.append(f"{happening.script}: {happening.notice}")

    def _said(self, said: Said) -> None:
        for told in said.events:
            event, invalid = without_invalid_numbers(told)
            self._notice_invalid(said.script, invalid)
            if isinstance(event, SuiteStarted):
                self.message = self.message or event.message
            self._suite_events += getattr(event, "case", None) is None
            log = _key(said.script, said.log)
            case = self.fold.apply(log, said.script, event)
            if case is not None:
                self.finished.append((self.fold.suites[log, event.suite], self._keep(case)))

    def _notice_invalid(self, script: str, invalid: Sequence[str]) -> None:
        """One by one up to a number, then how many more there are."""
        for what in invalid:
            self._invalid += 1
            if self._invalid <= _MOST_INVALID:
                self.notices.append(f"{script}: {what}")

    def _keep(self, case: CaseResult) -> CaseResult:
        kept = case if self.show_outputs else without_outputs(case)
        self.writer.add(kept)
        return kept

    def tallies(self) -> Iterator[tuple[str, Tally]]:
        """How far every suite is, each with its script."""
        counted = {_key(*names): tally for names, tally in self._counted.items()}
        for (key, _), fold in self.fold.suites.items():
            known = counted.pop(key, None)
            script = fold.script or ""
            log = key.removeprefix(f"{script}:")
            yield script, known if known is not None and fold.finished is None else tally_of(fold, log)
        for (script, log), tally in self._counted.items():
            if _key(script, log) in counted:
                yield script, tally

    def finish(self, run: Run, *, interrupted: bool = False) -> Run:
        """Write what never finished and the run itself.

        Args:
            run: what is known of it besides its suites and scripts.
            interrupted: scripts were ended before they had run.
        """
        for case in self.fold.close():
            self._keep(case)
        if (more := self._invalid - _MOST_INVALID) > 0:
            self.notices.append(f"{more:,} more numbers of cases are left out: they can't be")
        return self.writer.finish(replace(self._known(run), complete=not interrupted))

    def flush_if_due(self) -> None:
        """Flush what has finished, unless that was done a moment ago."""
        now, flushed = time.monotonic(), self._flushed
        if self.about is None or now < flushed.due:
            return
        worked = time.thread_time()  # that the machine is busy with something else must not delay what is next
        changed = (state := self._state()) != flushed.state
        self.writer.flush(self._known(self.about) if changed else None)
        flushed.state, worked = state, time.thread_time() - worked
        flushed.due = now + max(FLUSH_EVERY_S, _FLUSH_SHARE * worked)

    def _state(self) -> tuple[int, ...]:
        """Other numbers, once something is known of the run besides cases."""
        return len(self.fold.suites), self._suite_events, len(self.scripts), len(self.notices), len(self._left_out)

    def _known(self, about: Run) -> Run:
        """The run as far as it has got."""
        scripts = (*map(_unable, self.broken), *self._silent(), *self.scripts)
        return replace(
            about,
            suites=self.fold.results(),
            scripts=tuple(sorted(scripts, key=lambda script: script.name)),
            notices=(*about.notices, *self.notices),
            left_out=tuple(dict.fromkeys((*about.left_out, *self._left_out))),
            message=about.message or self.message,
        )

    def _leave_out(self, left: LeftOut) -> None:
        if left.suite in self._left_out or len(self._left_out) >= _MOST_LEFT_OUT:
            return
        self._left_out[left.suite] = None
        self.notices.append(f"{left.script}: suite {left.suite!r:.100} is not recorded: it matches no --suite")

    def _ended(self, script: Script) -> Script:
        """The script, with the first of what went wrong beside its end; the rest is noticed."""
        first, *more = (*([script.error] if script.error else ()), *self._failures.pop(script.name, ())) or (None,)
        self.notices += (f"{script.name}: {error.message}" for error in more if error is not None)
        return replace(script, error=first)

    def _silent(self) -> Iterable[Script]:
        """Scripts that spoke but whose end nobody saw: they were interrupted."""
        ended = {script.name for script in self.scripts}
        spoke = {fold.script for fold in self.fold.suites.values() if fold.script}
        for name in sorted(spoke - ended):
            yield Script(name, error=ErrorInfo("Interrupted", "it was stopped before its end"))


def _key(script: str, log: str) -> str:
    return f"{script}:{log}"


def without_outputs(case: CaseResult) -> CaseResult:
    """The case with its scores, but nothing of what was answered, or of the way there."""
    evaluations = {name: _bare(each) for name, each in case.evaluations.items()}
    labels = {name: replace(each, metadata=None) for name, each in case.labels.items()}
    return replace(case, output=None, trace=None, evaluations=evaluations, labels=labels, contests={})


def _bare(found: Evaluation) -> Evaluation:
    assertions = found.assertions and tuple(replace(each, metadata=None) for each in found.assertions)
    return replace(found, metadata=None, assertions=assertions)


def _unable(source: Source) -> Script:
    return Script(source.path, error=ErrorInfo("CannotRun", source.error or "it cannot be run"))
