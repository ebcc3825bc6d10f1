"""The failing cases that are shown, with what they said before and what they say now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from posixpath import basename, join

from scoregate.ci.report.context import Context
from scoregate.ci.report.excerpts import diff
from scoregate.ci.report.failing import Pick, in_turn
from scoregate.ci.report.harvest import Miss, Snapshot, Where, harvest
from scoregate.ci.report.links import source_url
from scoregate.ci.report.talks import TalkView, talk_view
from scoregate.ci.report.text import excerpt
from scoregate.core.case import CaseKey
from scoregate.core.compare import Comparison
from scoregate.core.confirmation import Confirmation
from scoregate.core.parts import Origin


@dataclass(frozen=True, slots=True)
class FailingCase:
    """A case that fails, with the reasons.

    `diff` holds the lines in which its output differs from the base's, each led by `+`, `-` or a space; where there
    is no such output, `output` holds the beginning of its own. Both stay empty where outputs may not be shown.
    `tries` says what running the case again has shown; empty where it was not. Of a conversation, `output` holds the
    transcript, and `talk` the turns at which it went wrong. `origin` is the line of a file that it was read from, with
    the path from the repository's top; `place` is short for it, such as `refunds.csv:12`.
    """

    suite: str
    key: CaseKey
    name: str
    newly: bool
    drop: float
    tries: str
    misses: tuple[Miss, ...]
    url: str | None = None
    diff: tuple[str, ...] = ()
    output: str = ""
    same_output: bool = False
    talk: TalkView | None = None
    origin: Origin | None = None

    @property
    def place(self) -> str:
        """The file without its folders, and the line; empty where it was read from no file."""
        return f"{basename(self.origin.file)}:{self.origin.line}" if self.origin else ""


_OUTPUT = 1200


def case_views(
    comparison: Comparison, chosen: Sequence[Pick], *, shots: Mapping[Where, Snapshot], context: Context
) -> Iterator[FailingCase]:
    """The chosen cases that were found on disk. The base's cases are read once, and only to show their outputs."""
    before = _base_shots(comparison, chosen) if context.show_outputs else {}
    tries = {(each.suite, each.case): tries_told(each) for each in comparison.run.confirmations}
    for pick in chosen:
        shot = shots.get((pick.suite, pick.key))
        if shot is not None:
            suite = comparison.run.suites[pick.suite]
            view = FailingCase(
                suite=suite.label,
                key=pick.key,
                name=shot.name,
                newly=pick.base is not None,
                drop=pick.drop,
                tries=tries.get((suite.label, pick.key.hash), ""),
                misses=_misses(shot, pick),
                url=source_url(shot.origin or suite.origin, context),
                origin=_whole(shot.origin, context),
            )
            old = before.get(pick.base) if pick.base else None
            yield _with_output(view, shot, old) if context.show_outputs else view


def in_order(views: Iterable[FailingCase]) -> list[FailingCase]:
    """The suites in turn, the largest drops first; of equal ones, those of a file as they stand in it, not as they
    happened to finish."""
    return in_turn(sorted(views, key=_place), lambda view: view.suite)


def _place(view: FailingCase) -> tuple[float | str | int, ...]:
    return (-view.drop, *((view.origin.file, view.origin.line) if view.origin else ()))


def tries_told(tried: Confirmation) -> str:
    """What running a case again has shown."""
    return f"{tried.outcome}: {tried.tries.count(True)} of {len(tried.tries)} further tries passed"


def _base_shots(comparison: Comparison, chosen: Sequence[Pick]) -> Mapping[Where, Snapshot]:
    wanted = {pick.base for pick in chosen if pick.base is not None}
    if comparison.base is None or not wanted:
        return {}
    return harvest(comparison.base.cases, wanted, errors=0, labels=()).snapshots


def _misses(shot: Snapshot, pick: Pick) -> tuple[Miss, ...]:
    before = dict(pick.base_scores)
    return tuple(replace(miss, base=before.get(miss.evaluator)) for miss in shot.misses)


def _with_output(view: FailingCase, shot: Snapshot, old: Snapshot | None) -> FailingCase:
    if shot.heard is not None:
        return replace(view, output=shot.output, talk=talk_view(shot.heard, old.heard if old else None))
    if old is None or not old.output:
        return replace(view, output=excerpt(shot.output, _OUTPUT))
    return replace(view, diff=diff(old.output, shot.output), same_output=old.output == shot.output)


def _whole(origin: Origin | None, context: Context) -> Origin | None:
    return None if origin is None else replace(origin, file=join(context.folder, origin.file))
