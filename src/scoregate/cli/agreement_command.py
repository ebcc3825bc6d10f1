"""`scoregate agreement`: how well judges agree with people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

import click

from scoregate.cli.options import load_project_settings, project_root
from scoregate.cli.review_records import select_reviews
from scoregate.cli.text_output import print_json, print_line, print_lines, print_table
from scoregate.kernel.compare.agreement import Agreement, measure_agreement
from scoregate.kernel.compare.judge_checks import (
    AgreementLevel,
    JudgeCheck,
    check_judge,
    conclude,
    describe_check,
)
from scoregate.kernel.gate import EXIT_CODES
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.report.text import one_line
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.records import record
from scoregate.store import OVERRIDES, Override, Source, open_store, split_by_source

_MOST_SCORES = 8
_NAME = 60
_HINT = "Only a random sample (`scoregate review --sample 50`) shows how often a judge is right on all of its scores."


@record
class Entry:
    """The agreement of a judge with people on a random sample of its scores, or on scores that people chose.

    `check` is the last check that the reviews reach; None before the first one. `earlier`: a later judge of this name
    was sampled, too. `decides`: this agreement is compared with `min_agreement`.
    """

    evaluator: str
    source: Source
    fingerprint: str
    figures: Agreement
    check: JudgeCheck | None = None
    earlier: bool = False
    decides: bool = False

    @property
    def source_text(self) -> str:
        """The source as text."""
        if self.source is Source.CHOSEN:
            return "chosen by people"
        return "sample, earlier judge" if self.earlier else "random sample"

    @property
    def title(self) -> str:
        """Judge and source, on one line."""
        return f"{one_line(self.evaluator, _NAME)} ({self.source_text})"


@click.command("agreement")
@click.argument("evaluator", required=False, metavar="[GLOB]")
@click.option(
    "--min-agreement",
    type=float,
    metavar="RATE",
    help="Fail if a judge's balanced accuracy, or its share of found failures, is below this (0 to 1).",
)
@click.option("--min-overrides", type=int, metavar="N", help="Overrides before the first check; default: 10.")
@click.option("--json", "as_json", is_flag=True, help="Print all figures, as a JSON list.")
def command(evaluator: str | None, min_agreement: float | None, min_overrides: int | None, as_json: bool) -> int:
    """Show how well each judge agrees with people, measured by their overrides.

    Accuracy is the share of equal scores; kappa (Cohen's) corrects it for chance. Intervals are 95% intervals. Scores
    drawn at random and scores that people chose are separate rows. With min_agreement, a judge is checked after
    min_overrides overrides, twice as many, and so on. It passes if the lower bounds of its balanced accuracy and of its
    share of found failures are above the minimum. If the figures themselves are below it, the exit code is 1; if the
    overrides don't decide yet, it is 3. The random sample counts if it is large enough, else the chosen scores.
    """
    settings = load_project_settings(project_root(), {"min_agreement": min_agreement, "min_overrides": min_overrides})
    reviews = select_reviews(open_store(), OVERRIDES, evaluator)
    entries = [entry for name, items in reviews for entry in _build_entries(name, items, fewest=settings.min_overrides)]
    if as_json:
        print_json(_to_json(each, settings) for each in entries)
    else:
        _print_entries(entries, settings)
    return EXIT_CODES[_conclude(entries, settings)]


def _conclude(entries: Sequence[Entry], settings: Settings) -> Conclusion:
    """The conclusion over all judges; without a minimum there is nothing to fail."""
    if settings.min_agreement is None:
        return Conclusion.PASSED
    levels = {_conclusion(each, settings) for each in entries if each.decides}
    if AgreementLevel.BELOW in levels:
        return Conclusion.FAILED
    return Conclusion.PASSED if levels == {AgreementLevel.HOLDS} else Conclusion.UNMEASURABLE


def _build_entries(name: str, items: Sequence[Override], *, fewest: int) -> list[Entry]:
    """The agreements of a judge. One decides: the random sample if it is large enough, else the chosen scores."""
    entries = []
    for source, judge, group in split_by_source(items):
        reviews = [each.to_review() for each in group]
        if (figures := measure_agreement(reviews)) is not None:
            entries.append(Entry(name, source, judge, figures, check_judge(reviews, fewest=fewest)))
    if not entries:
        return []
    last = len(entries) - 1
    is_sampled = entries[last].source is Source.SAMPLE and entries[last].check is not None
    deciding = last if is_sampled or entries[0].source is Source.SAMPLE else 0
    return [
        replace(each, earlier=each.source is Source.SAMPLE and index < last, decides=index == deciding)
        for index, each in enumerate(entries)
    ]


def _conclusion(entry: Entry, settings: Settings) -> AgreementLevel | None:
    if not entry.decides:
        return None
    return conclude(entry.check, settings.min_agreement)


def _print_entries(entries: Sequence[Entry], settings: Settings) -> None:
    if not entries:
        print_line("There are no overrides, so no agreement can be measured.")
        return
    rows = []
    for entry in entries:
        figures = entry.figures
        accuracy = f"{figures.accuracy:.3f} [{figures.low:.3f}, {figures.high:.3f}]"
        kappa = "not defined"
        if (value := figures.kappa) is not None:
            has_interval = value.low is not None and value.high is not None
            interval = f" [{value.low:.3f}, {value.high:.3f}]" if has_interval else ", too few for an interval"
            kappa = f"{value.value:.3f}{interval}"
        rows.append((entry.evaluator, entry.source_text, f"{figures.n:,}", accuracy, kappa))
    print_table(("scorer", "source", "overrides", "accuracy", "kappa"), rows, numbers=range(2, 5))
    for entry in entries:
        if entry.figures.matching < entry.figures.n:
            _print_confusion(entry.title, entry.figures)
    lines = filter(None, (_describe_conclusion(each, settings) for each in entries))
    print_lines(lines, styles=[("note", "yellow"), ("failed", "red")])
    print_lines(["", _HINT])


def _describe_conclusion(entry: Entry, settings: Settings) -> str:
    """A line for a judge that fails or isn't decided; else empty."""
    conclusion, check = _conclusion(entry, settings), entry.check
    if check is None:
        text = f"{entry.figures.n} of {settings.min_overrides} required overrides"
        return f"note: {entry.title}: {text}" if entry.decides else ""
    limit = f"min_agreement {settings.min_agreement} ({settings.origin('min_agreement')})"
    if conclusion is AgreementLevel.TOO_FEW:
        return f"note: {entry.title}: not shown to be above {limit}: {describe_check(check)}"
    if conclusion is AgreementLevel.BELOW:
        return f"failed: {entry.title}: below {limit}: {describe_check(check)}"
    return ""


def _print_confusion(title: str, figures: Agreement) -> None:
    """Print a table with a row for each score of the judge and a column for each score of people."""
    if len(figures.scores) > _MOST_SCORES:
        print_lines(["", f"{title}: {len(figures.scores)} different scores, too many for a table"])
        return
    print_lines(["", f"{title}:"])
    headings = ("judge \\ people", *(f"{person:g}" for person in figures.scores))
    rows = []
    for judge in figures.scores:
        counts = (figures.confusion.get((judge, person)) for person in figures.scores)
        rows.append((f"{judge:g}", *(f"{count:,}" if count else "·" for count in counts)))
    print_table(headings, rows, numbers=range(1, len(headings)))


def _to_json(entry: Entry, settings: Settings) -> dict[str, object]:
    figures = entry.figures
    confusion = [
        {"judge": judge, "person": person, "count": count}
        for (judge, person), count in sorted(figures.confusion.items())
    ]
    fields = {"evaluator": entry.evaluator, "source": entry.source, "fingerprint": entry.fingerprint or None}
    check = None if entry.check is None else asdict(entry.check)
    rest = {
        "confusion": confusion,
        "scores": figures.scores,
        "check": check,
        "conclusion": _conclusion(entry, settings),
    }
    return {**fields, **asdict(figures), **rest}
