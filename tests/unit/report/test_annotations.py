"""Findings at the lines of their suites, within the runner's limit."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio
import pytest
from tests.unit.report.runs import CONTEXT, ExampleSuite, Score, Trial, make_run, view_of

from scoregate.kernel.job.github.context import Connection, GitHubJob
from scoregate.kernel.job.publish.delivery import Delivery, PublishTarget, deliver
from scoregate.kernel.job.publish.job_log import publish_annotations
from scoregate.kernel.report.annotations import annotate
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.event_values import Origin
from scoregate.kernel.types.runs.policy import Limits

TABLE = partial(Origin, "evals/refunds.csv")


def make_failing_view(suites: int, **place: object) -> ReportView:
    specs = (
        ExampleSuite(f"suite {at}", [Trial("c", [Score("e", 0.0)])], origin=Origin(f"evals/s{at}.py", at + 1))
        for at in range(suites)
    )
    return view_of(make_run(*specs), limits=Limits(min_pass_rate=1.0), context=replace(CONTEXT, **place))


def test_each_has_the_line_of_its_suite() -> None:
    (first, second) = annotate(make_failing_view(2))
    assert (first.level, first.file, first.line) == ("error", "evals/s0.py", 1)
    assert (second.file, second.line) == ("evals/s1.py", 2)
    assert first.title == "scoregate · suite 0"
    assert "Pass rate" in first.message


def test_paths_start_at_the_top_of_the_repository() -> None:
    (only,) = annotate(make_failing_view(1, folder="services/bot"))
    assert only.file == "services/bot/evals/s0.py"


def test_newly_failing_cases_have_the_lines_of_their_data() -> None:
    def make_suite(score: float) -> ExampleSuite:
        trials = [Trial(f"c{at}", [Score("e", score)], name=f"case {at}", origin=TABLE(at)) for at in range(9)]
        return ExampleSuite("suite", [*trials, Trial("nowhere", [Score("e", score)])])

    view = view_of(make_run(make_suite(0.0)), make_run(make_suite(1.0)), context=replace(CONTEXT, folder="bot"))
    notices = [each for each in annotate(view) if each.level == "notice"]
    assert len(notices) == 5
    assert {each.file for each in notices} == {"bot/evals/refunds.csv"}
    first = min(notices, key=lambda each: each.line or 0)
    assert f"newly failing: case {first.line}: e 0, needs" in first.message


def test_equal_drops_have_the_order_of_their_file() -> None:
    def make_suite(score: float) -> ExampleSuite:
        return ExampleSuite("suite", [Trial(f"c{at}", [Score("e", score)], origin=TABLE(at)) for at in (12, 4, 100, 6)])

    view = view_of(make_run(make_suite(0.0)), make_run(make_suite(1.0)))
    assert [each.line for each in annotate(view) if each.level == "notice"] == [4, 6, 12, 100]
    assert [each.place for each in view.notable.failing] == [f"refunds.csv:{at}" for at in (4, 6, 12, 100)]


def test_the_number_is_limited() -> None:
    found = list(annotate(make_failing_view(40)))
    assert len(found) == 9
    assert found[-1].message == "32 more in the summary of the job"
    assert found[-1].file is None


@pytest.mark.parametrize("warnings", [0, 1, 5, 30])
def test_warnings_of_others_are_added(warnings: int) -> None:
    view = make_failing_view(40)
    view = replace(view, verdict=replace(view.verdict, warnings=view.findings))
    log: list[str] = []

    async def refused(*_: object) -> Delivery:
        return Delivery(warnings=tuple(f"not delivered {at}" for at in range(warnings)))

    connection = Connection(GitHubJob("o/r", "push", "0" * 40), None, "k")
    outlet = PublishTarget(Path(), {}, connection=connection, log=log.append)
    delivery = anyio.run(deliver, view, outlet, (publish_annotations, refused))
    assert len(delivery.warnings) == warnings
    for kind in ("::error", "::warning"):
        assert len([line for line in log if line.startswith(kind)]) <= 10
    assert all(f"not delivered {at}" in "\n".join(log) for at in range(warnings))
