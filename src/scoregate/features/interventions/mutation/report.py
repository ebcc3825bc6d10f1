"""The reports of a mutation: JSON, Markdown and one HTML page."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from scoregate.features.interventions.edited_trees.edits import count_equal
from scoregate.features.interventions.mutation.mutate import MeasuredUnit, Mutation
from scoregate.features.interventions.mutation.operators import Operator
from scoregate.features.interventions.mutation.outcomes import Score, UnitOutcome, count_score
from scoregate.kernel.host.secrets import Redactor
from scoregate.kernel.report.html.assets import read_source
from scoregate.kernel.report.markdown import code, prose
from scoregate.kernel.report.text import excerpt, one_line
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs import number_format

TITLES = {
    UnitOutcome.NOT_NOTICED: "Not noticed",
    UnitOutcome.SEEN: "Seen, but no gate fails",
    UnitOutcome.GATED: "A gate fails",
    UnitOutcome.BETTER_WITHOUT: "Better without",
    UnitOutcome.NOT_EXERCISED: "Changes no request and no output",
    UnitOutcome.BROKEN: "The suites don't run after the edit",
}
_MEANINGS = {
    UnitOutcome.NOT_NOTICED: "Requests or outputs differ, and no score shows it.",
    UnitOutcome.SEEN: "Cases fail or a score falls, and all gates hold.",
    UnitOutcome.GATED: "A gate fails that holds with the unit.",
    UnitOutcome.BETTER_WITHOUT: "Cases pass or a score rises once the unit is edited.",
    UnitOutcome.NOT_EXERCISED: "All requests and outputs are the same, so no case needs the unit.",
}
_SCORES = {UnitOutcome.SEEN: "a score falls", UnitOutcome.BETTER_WITHOUT: "a score rises"}
TITLE = "Would your evals notice?"
PAGE, RESULT = "mutation.html", "mutation.json"
_MOST_CASES, _MOST_UNITS, _LONGEST_TEXT = 10, 200, 2_000
_MOST_NAMES, _LONGEST_PLACE = 5, 48
# Longer texts are folded.
_MOST_LINES, _LONGEST_OPEN, _LONGEST_SUMMARY = 6, 500, 100
_LONGEST_MARKDOWN = 60_000


@record
class MutationView:
    """What reports show of a mutation.

    Attributes:
        mutation: what was measured.
        score: the share of units that are noticed.
        groups: the units by outcome, those that people should look at first.
        blind: the names of cases that notice nothing.
        sharp: the names of the cases that notice most, with the number of units.
    """

    mutation: Mutation
    score: Score
    groups: tuple[tuple[str, tuple[MeasuredUnit, ...]], ...]
    blind: tuple[str, ...]
    sharp: tuple[tuple[str, int], ...]

    @property
    def headline(self) -> str:
        """The result in one sentence."""
        if self.mutation.problem:
            return f"Could not be measured: {self.mutation.problem}."
        if self.score.share is None:
            return "No unit that can be noticed was measured."
        share = number_format.percent(self.score.share)
        low, high = map(number_format.percent, (self.score.low, self.score.high))
        noticed = f"{self.score.noticed:,} of {self.score.units:,} units"
        return f"The evals notice {noticed} ({share}, 95 % interval {low} to {high})."

    @property
    def has_edits(self) -> bool:
        """Whether units were edited in more than one way."""
        return len({each.unit.operator for each in self.mutation.units}) > 1

    @property
    def notes(self) -> Iterator[str]:
        """What limits the result."""
        mutation = self.mutation
        if mutation.red:
            yield f"These gates already fail without an edit, so they notice nothing: {'; '.join(mutation.red)}."
        if mutation.left_out:
            yield f"{mutation.left_out:,} more units were not measured: {mutation.ended}. The same command goes on."
        for script, why in list(mutation.unknown.items())[:_MOST_CASES]:
            yield f"{script} may read more files than these, which --files can name: {why}."
        for path, why in list(mutation.skipped.items())[:_MOST_CASES]:
            yield f"{path} {why}."
        if not mutation.calls and mutation.units:
            text = "No call of a model was seen. If suites call models, use `scoregate.models.wrap` or the gateway"
            yield f"{text}: without them only outputs are compared, and only a budget of minutes holds."
        if mutation.calls:
            paid = f", for {number_format.cost(mutation.dollars)}" if mutation.dollars else ""
            were = "call of a model was" if mutation.calls == 1 else "calls of models were"
            yield f"{mutation.calls:,} {were} made{paid}."


def make_view(mutation: Mutation) -> MutationView:
    """What reports show of a mutation."""
    is_complete = bool(mutation.units) and not mutation.left_out
    noticing = Counter((case.suite, case.case) for each in mutation.units for case in each.judgement.cases)
    names = {key: f"{key[0]}: {name or key[1]}" for key, name in mutation.cases.items()}
    groups = (
        (TITLES[outcome], tuple(each for each in mutation.units if each.judgement.outcome is outcome))
        for outcome in TITLES
    )
    return MutationView(
        mutation,
        count_score([each.judgement for each in mutation.units]),
        tuple((title, units) for title, units in groups if units),
        tuple(sorted(names[key] for key in mutation.cases if key not in noticing)) if is_complete else (),
        tuple((names.get(key, key[1]), count) for key, count in noticing.most_common(_MOST_CASES)),
    )


def to_data(view: MutationView) -> dict[str, Any]:
    """The result as JSON data."""
    score, mutation = view.score, view.mutation
    return {
        "units": [_unit_data(each) for each in mutation.units],
        "score": score.share,
        "interval": [score.low, score.high] if score.units else None,
        "noticed": score.noticed,
        "left_out": mutation.left_out,
        "ended": mutation.ended,
        "problem": mutation.problem,
        "red_gates": list(mutation.red),
        "skipped": dict(mutation.skipped),
        "blind_cases": list(view.blind),
        "sharp_cases": [{"case": name, "units": count} for name, count in view.sharp],
        "calls": mutation.calls,
        "cost": mutation.dollars,
    }


def _unit_data(each: MeasuredUnit) -> dict[str, Any]:
    unit, judgement = each.unit, each.judgement
    return {
        "file": unit.file,
        "lines": list(unit.lines),
        "text": excerpt(unit.text, _LONGEST_TEXT),
        "new_text": excerpt(unit.new_text, _LONGEST_TEXT),
        "operator": unit.operator.value,
        "outcome": judgement.outcome.value,
        "cases": [case.name or case.case for case in judgement.cases],
        "gates": list(each.measured.gates) if judgement.outcome is UnitOutcome.GATED else [],
        "detectable": each.measured.detectable,
        "reason": each.measured.broken,
    }


def describe_place(each: MeasuredUnit, longest: int = 0) -> str:
    """The file and the lines of a unit; of one that is longer than `longest`, the end."""
    first, last = each.unit.lines
    place = f"{each.unit.file}:{first}" if first == last else f"{each.unit.file}:{first}-{last}"
    return f"…{place[1 - longest :]}" if longest and len(place) > longest else place


def list_texts(each: MeasuredUnit, longest: int) -> list[str]:
    """The text of a unit on one line, and its new one if it is not deleted; both around the place where they differ."""
    old, new = " ".join(each.unit.text.split()), " ".join(each.unit.new_text.split())
    if each.unit.operator is Operator.DELETE:
        return [one_line(old, longest)]
    same = count_equal(old, new)
    start = 0 if same < longest // 2 or max(len(old), len(new)) <= longest else same - longest // 2
    return [one_line(f"{'…' * (start > 0)}{text[start:]}", longest) or "(empty)" for text in (old, new)]


def describe_result(each: MeasuredUnit) -> str:
    """What shows the outcome of a unit."""
    return "; ".join(list_results(each))


def list_results(each: MeasuredUnit) -> list[str]:
    """What shows the outcome of a unit: gates, and cases with their number."""
    measured, judgement = each.measured, each.judgement
    names = [case.name or case.case for case in judgement.cases]
    cases = f"{number_format.count(len(names), 'case')}: {_list_names(names)}" if names else ""
    if judgement.outcome is UnitOutcome.BROKEN:
        return [one_line(measured.broken, 300)]
    if judgement.outcome is UnitOutcome.NOT_NOTICED:
        drop = (
            "only a case that always fails"
            if measured.detectable is None
            else f"a drop of a mean score by {measured.detectable:.3f}"
        )
        return [f"{drop} would be noticed"]
    gates = measured.gates[:3] if judgement.outcome is UnitOutcome.GATED else ()
    return [*gates, *filter(None, [cases or _SCORES.get(judgement.outcome, "")])]


def _list_names(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST_NAMES]) + (f" and {len(names) - _MOST_NAMES:,} more" if names[_MOST_NAMES:] else "")


def render_markdown(view: MutationView) -> str:
    """The result in Markdown, as for an issue or the summary of a job."""
    lines, length = list[str](), 0
    for line in _list_lines(view):
        length += len(line) + 1
        if length > _LONGEST_MARKDOWN:  # GitHub takes no longer issue
            lines += ["", "The rest is in mutation.html."]
            break
        lines.append(line)
    return "\n".join(lines) + "\n"


def _list_lines(view: MutationView) -> Iterator[str]:
    yield from (f"## {TITLE}", "", str(prose(view.headline)), "")
    for note in view.notes:
        yield from (f"- {prose(note)}",)
    for title, units in view.groups:
        yield from ("", f"### {title} ({len(units):,})", "", *list_rows(view, units, _MOST_UNITS))
    if view.sharp:
        yield from ("", "### Cases that notice most", "")
        yield from (f"- {code(name)}: {number_format.count(count, 'unit')}" for name, count in view.sharp)
    if view.blind:
        yield from ("", f"### Cases that notice nothing ({len(view.blind):,})", "")
        yield ", ".join(str(code(name)) for name in view.blind[:_MOST_UNITS])


def list_rows(view: MutationView, units: Sequence[MeasuredUnit], most: int) -> Iterator[str]:
    """The first units as a table in Markdown."""
    headings = ["Unit", *(["Edit"] if view.has_edits else []), "Text", "Result"]
    yield from (_row(headings), _row([":--"] * len(headings)))
    for each in units[:most]:
        edit = [each.unit.operator.value] if view.has_edits else []
        text = " → ".join(str(code(text)) for text in list_texts(each, 80))
        results = "<br>".join(str(prose(line)) for line in list_results(each))
        yield _row([str(code(describe_place(each, _LONGEST_PLACE))), *edit, text, results])
    if units[most:]:
        yield _row([f"… {len(units) - most:,} more", *[""] * (len(headings) - 1)])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def render_page(view: MutationView) -> str:
    """The result as one HTML page."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    return environment.get_template("page.html.j2").render(
        view=view,
        style=Markup(read_source("base.css")),
        meanings={outcome.value: text for outcome, text in _MEANINGS.items()},
        place=describe_place,
        results=list_results,
        count=number_format.count,
        most=_MOST_UNITS,
        cut=lambda text: excerpt(text, _LONGEST_TEXT),
        shorten=lambda text: one_line(text, _LONGEST_SUMMARY),
        is_long=lambda text: text.count("\n") > _MOST_LINES or len(text) > _LONGEST_OPEN,
    )


def write_reports(view: MutationView, folder: Path, redact: Redactor) -> None:
    """Write all reports, without known secrets."""
    folder.mkdir(parents=True, exist_ok=True)
    contents = {
        RESULT: json.dumps(to_data(view), indent=2) + "\n",
        "mutation.md": render_markdown(view),
        PAGE: render_page(view),
    }
    for name, content in contents.items():
        (folder / name).write_text(redact.text(content), encoding="utf-8")
