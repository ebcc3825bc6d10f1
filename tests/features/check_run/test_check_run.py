"""A check is in progress from the start and completed whatever happens."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio
import pytest
from tests.fakes.github.model import CheckRun as Shown
from tests.integration.github.place import Place
from tests.unit.report.example_views import EXAMPLES
from tests.unit.report.runs import CONTEXT, ExampleSuite, Score, Trial, make_run, view_of

from scoregate.errors import GitHubRefused
from scoregate.features.check_run.publisher import CheckRun
from scoregate.kernel.job.publish.delivery import PublishTarget
from scoregate.kernel.types.runs.policy import Limits

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def check(place: Place, **rights: str) -> AsyncIterator[CheckRun]:
    async with place.api(**rights) as api:
        yield CheckRun(api, place.main[2], "evals", CONTEXT.run_url or "")


def check_run_of(place: Place) -> Shown:
    (check_run,) = place.repo.check_runs.values()
    return check_run


@pytest.mark.parametrize(
    ("example", "conclusion"), [("green", "success"), ("failing", "failure"), ("unmeasurable", "cancelled")]
)
async def test_it_starts_and_ends_with_a_verdict(place: Place, example: str, conclusion: str) -> None:
    view = EXAMPLES[example]()
    async with check(place) as check_run, check_run.open():
        assert (check_run_of(place).status, check_run_of(place).conclusion) == ("in_progress", None)
        assert (await check_run.publish(view, PublishTarget(place.folder, {}))).warnings == ()
    assert (check_run_of(place).status, check_run_of(place).conclusion) == ("completed", conclusion)
    assert check_run_of(place).head_sha == place.main[2]
    assert check_run_of(place).output["title"] == view.title
    assert check_run_of(place).output["summary"].startswith("<!-- scoregate:v1")


async def test_an_unmeasurable_run_blocks(place: Place) -> None:
    async with check(place) as check_run, check_run.open():
        await check_run.publish(view_of(make_run()), PublishTarget(place.folder, {}))
    assert check_run_of(place).conclusion == "failure"


@pytest.mark.parametrize("error", [RuntimeError("a fault of ours"), KeyboardInterrupt()])
async def test_an_exception_completes_it(place: Place, error: BaseException) -> None:
    with pytest.raises(type(error)):
        async with check(place) as check_run, check_run.open():
            raise error
    assert (check_run_of(place).status, check_run_of(place).conclusion) == ("completed", "cancelled")
    assert "log of the job" in check_run_of(place).output["summary"]


async def test_cancelling_completes_it(place: Place) -> None:
    async with check(place) as check_run, anyio.create_task_group() as tasks:

        async def run() -> None:
            async with check_run.open():
                tasks.cancel_scope.cancel()
                await anyio.sleep(10)

        tasks.start_soon(run)
    assert check_run_of(place).conclusion == "cancelled"


async def test_a_lost_answer_makes_no_second_one(place: Place) -> None:
    place.github.fail("POST", "*/check-runs", status=502, after=True)
    async with check(place) as check_run, check_run.open():
        await check_run.publish(EXAMPLES["green"](), PublishTarget(place.folder, {}))
    assert check_run_of(place).conclusion == "success"


async def test_a_refusal_at_the_start_is_a_warning_at_the_end(place: Place) -> None:
    async with check(place, contents="read", checks="read") as check_run, check_run.open():
        delivery = await check_run.publish(EXAMPLES["green"](), PublishTarget(place.folder, {}))
    assert "checks: write" in delivery.warnings[0]
    assert place.repo.check_runs == {}


async def test_a_report_that_is_refused_leaves_no_check_in_progress(place: Place) -> None:
    async with check(place) as check_run, check_run.open():
        place.github.fail("PATCH", "*/check-runs/*", status=422, body={"message": "Invalid request."})
        with pytest.raises(GitHubRefused):
            await check_run.publish(EXAMPLES["green"](), PublishTarget(place.folder, {}))
    assert check_run_of(place).conclusion == "cancelled"


async def test_an_outage_at_the_end_does_not_block(place: Place) -> None:
    async with place.api() as api:
        check_run = CheckRun(replace(api, sleep=anyio.sleep), place.main[2], "evals", "")
        with anyio.fail_after(60):
            async with check_run.open():
                place.github.fail("PATCH", "*/check-runs/*", status=503, times=math.inf)
    assert check_run_of(place).status == "in_progress"


async def test_a_long_report_fits(place: Place) -> None:
    trials = [Trial(f"c{index}", [Score("e", 0.0)], name="日" * 5_000, output="日" * 50_000) for index in range(300)]
    run = make_run(*(ExampleSuite(f"{'日' * 200}{index}", trials) for index in range(30)))
    async with check(place) as check_run, check_run.open():
        await check_run.publish(view_of(run, limits=Limits(min_pass_rate=1.0)), PublishTarget(place.folder, {}))
    assert check_run_of(place).conclusion == "failure"
    assert len(check_run_of(place).output["summary"].encode()) <= 65_535


async def test_secrets_are_in_none_of_its_parts(place: Place) -> None:
    view = replace(EXAMPLES["green"](), title="s3cr3t passed")
    outlet = PublishTarget(place.folder, {}, redact=lambda text: text.replace("s3cr3t", "***"))
    async with check(place) as check_run, check_run.open():
        await check_run.publish(view, outlet)
    assert "s3cr3t" not in str(check_run_of(place).output)
