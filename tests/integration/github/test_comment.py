"""One comment for each key, despite other writers and lost answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.fakes.github import Pull, Run, events
from tests.integration.github.place import Place
from tests.unit.report.example_views import EXAMPLES
from tests.unit.report.runs import CONTEXT, view_of

from scoregate.kernel.job.github.context import read_pull_request
from scoregate.kernel.job.publish.comment import publish_comment
from scoregate.kernel.job.publish.delivery import Delivery, PublishTarget
from scoregate.kernel.judge.settings import CommentMode
from scoregate.kernel.report.markdown import marker, marker_prefix
from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.runs.policy import Limits

pytestmark = pytest.mark.anyio
OURS = "github-actions[bot]"


@pytest.fixture
def pull(place: Place) -> Pull:
    place.repo.commit("change", parents=[place.repo.branch("main")])
    return place.repo.pull_request("change")


def view(example: str = "failing", run: str = "1000.1", key: str = "evals") -> ReportView:
    return replace(view := EXAMPLES[example](), context=replace(view.context, key=key, run=run))


async def publish(
    place: Place, pull: Pull, shown: ReportView, *, ran: Run | None = None, login: str = OURS, **options: Any
) -> Delivery:
    event = events.pull_request(pull)
    request = read_pull_request(event.payload["pull_request"])
    async with place.connection(event, ran) as connection, place.api(login=login, **rights(options)) as api:
        outlet = PublishTarget(place.folder, {}, connection=replace(connection, api=api), request=request, **options)
        return await publish_comment(shown, outlet)


def rights(options: dict[str, Any]) -> dict[str, str]:
    return options.pop("rights", {})


async def test_it_is_created_once_then_updated(place: Place, pull: Pull) -> None:
    first = await publish(place, pull, view(run="1000.1"))
    for run in ("1000.2", "1001.1", "1002.1"):
        second = await publish(place, pull, view("green", run=run))
        assert second.outputs == first.outputs
    (comment,) = pull.comments
    assert comment.login == OURS
    assert "run=1002.1" in comment.body
    assert "✅" in comment.body


async def test_it_is_found_on_the_third_page(place: Place, pull: Pull) -> None:
    for number in range(120):
        pull.comment(f"talk {number}")
    await publish(place, pull, view())
    for number in range(130):
        pull.comment(f"more talk {number}")
    (ours,) = [comment for comment in pull.comments if comment.login == OURS]
    assert ours.body.startswith(marker_prefix("evals"))
    await publish(place, pull, view("green", run="1001.1"))
    assert len(pull.comments) == 251
    assert "run=1001.1" in ours.body


@pytest.mark.parametrize("login", ["mallory", "github-actions", "mallory[bot]", "github-actions-bot"])
async def test_a_comment_of_another_user_is_kept(place: Place, pull: Pull, login: str) -> None:
    planted = pull.comment(f"{marker(CONTEXT)}\nAll is well", login)
    await publish(place, pull, view())
    assert planted.body.endswith("All is well")
    assert [comment.login for comment in pull.comments] == [login, OURS]


async def test_a_mark_inside_another_comment_is_ignored(place: Place, pull: Pull) -> None:
    pull.comment(f"Quoted:\n{marker(CONTEXT)}", OURS)
    await publish(place, pull, view())
    assert len(pull.comments) == 2


@pytest.mark.parametrize(("older", "newer"), [("1000.1", "1001.1"), ("1000.1", "1000.2"), ("999.3", "1000.1")])
async def test_an_older_run_changes_nothing(place: Place, pull: Pull, older: str, newer: str) -> None:
    await publish(place, pull, view(run=newer))
    (comment,) = pull.comments
    comment_text = comment.body
    delivery = await publish(place, pull, view("green", run=older))
    assert comment.body == comment_text
    assert "a newer run has commented already" in delivery.warnings[0]
    assert delivery.outputs["comment-url"].endswith(str(comment.id))


async def test_two_keys_are_two_comments(place: Place, pull: Pull) -> None:
    for run in ("1000.1", "1001.1"):
        for key in ("evals", "evals-nightly"):
            await publish(place, pull, view(run=run, key=key))
    assert [comment.body.split()[2] for comment in pull.comments] == ["key=evals", "key=evals-nightly"]


@pytest.mark.parametrize("login", ["octocat", "our-app[bot]", OURS])
async def test_every_kind_of_token_finds_its_comment(place: Place, pull: Pull, login: str) -> None:
    for run in ("1000.1", "1001.1"):
        await publish(place, pull, view(run=run), login=login, rights={"pull_requests": "write"})
    assert [comment.login for comment in pull.comments] == [login]


async def test_an_unknown_author_is_the_job_token(place: Place, pull: Pull) -> None:
    await publish(place, pull, view())
    place.github.fail("POST", "/graphql", status=404, body={"message": "Not Found"})
    await publish(place, pull, view(run="1001.1"))
    assert len(pull.comments) == 1


CASES = {
    # the example, and which modes write a comment where there is none
    "failing": {"always", "changes", "failures"},
    "unmeasurable": {"always", "changes", "failures"},
    "green": {"always"},
    "first": {"always", "changes"},
}


@pytest.mark.parametrize("mode", list(CommentMode))
@pytest.mark.parametrize("example", CASES)
async def test_the_mode_decides_whether_to_create(place: Place, pull: Pull, example: str, mode: CommentMode) -> None:
    await publish(place, pull, view(example), comment=mode)
    assert len(pull.comments) == (str(mode) in CASES[example])


@pytest.mark.parametrize("mode", [CommentMode.CHANGES, CommentMode.FAILURES])
async def test_an_existing_one_is_updated(place: Place, pull: Pull, mode: CommentMode) -> None:
    await publish(place, pull, view("failing"), comment=mode)
    await publish(place, pull, view("green", run="1001.1"), comment=mode)
    (comment,) = pull.comments
    assert "✅" in comment.body


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("times", [1, 2])
async def test_lost_answers_create_one(place: Place, pull: Pull, drop: bool, times: int) -> None:
    path = f"*/issues/{pull.number}/comments"
    lose = place.github.drop if drop else place.github.fail
    lose("POST", path, after=True, times=times)
    delivery = await publish(place, pull, view())
    (comment,) = pull.comments
    assert delivery.outputs["comment-url"].endswith(str(comment.id))
    assert delivery.warnings == ()


async def test_a_lost_answer_to_an_update_is_safe(place: Place, pull: Pull) -> None:
    await publish(place, pull, view())
    place.github.drop("PATCH", "*/issues/comments/*", after=True)
    await publish(place, pull, view(run="1001.1"))
    (comment,) = pull.comments
    assert "run=1001.1" in comment.body


async def test_a_comment_deleted_meanwhile_is_created_again(place: Place, pull: Pull) -> None:
    await publish(place, pull, view())
    place.github.before("PATCH", "*/issues/comments/*", lambda _: place.repo.comments.clear())
    delivery = await publish(place, pull, view(run="1001.1"))
    assert delivery.warnings == ()
    (comment,) = pull.comments
    assert "run=1001.1" in comment.body


@pytest.mark.parametrize(
    ("status", "message", "expected"),
    [
        (403, "Resource not accessible by integration", "pull-requests: write"),
        (404, "Not Found", "pull-requests: write"),
        (410, "This issue was deleted", "It was deleted"),
        (422, "Validation Failed", "Validation Failed"),
        (403, "Unable to create comment because issue is locked.", "locked"),
        (401, "Bad credentials", "github-token"),
        (503, "Unavailable", "GitHub has an outage"),
    ],
)
async def test_a_refusal_is_a_warning_with_advice(
    place: Place, pull: Pull, status: int, message: str, expected: str
) -> None:
    place.github.fail("POST", "*/issues/*/comments", status=status, body={"message": message}, times=9)
    delivery = await publish(place, pull, view())
    assert delivery.outputs == {"comment-pending": "true"}
    (warning,) = delivery.warnings
    assert warning.startswith("cannot write the comment: ")
    assert expected in warning
    assert message in warning


async def test_a_rate_limit_is_retried(place: Place, pull: Pull) -> None:
    place.github.rate_limit("POST", "*/issues/*/comments", retry_after=7)
    place.github.rate_limit("GET", "*/issues/*/comments", reset_in=20)
    assert (await publish(place, pull, view())).warnings == ()
    assert len(pull.comments) == 1
    assert len(place.slept) == 2


async def test_a_fork_gets_no_request(place: Place, pull: Pull) -> None:
    delivery = await publish(place, pull, view(), read_only=True)
    assert delivery == Delivery({"comment-pending": "true"})
    assert place.github.requests == []


async def test_another_run_does_not_replace_the_comment(place: Place, pull: Pull) -> None:
    await publish(place, pull, view(run="1000.1"))
    (comment,) = pull.comments
    comment_text = comment.body
    await publish(place, pull, view("green", run="1000.1"), measured_here=False)
    assert comment.body == comment_text
    await publish(place, pull, view("green", run="1001.1"), measured_here=False)
    assert "run=1001.1" in comment.body


async def test_a_long_report_fits_into_a_comment(place: Place, pull: Pull) -> None:
    from tests.unit.report.runs import ExampleSuite, Score, Trial, make_run

    hard = "日" * 20_000
    trials = [
        Trial(f"c{index}", [Score(f"e{n}", 0.0) for n in range(5)], name=hard, output=hard) for index in range(100)
    ]
    run = make_run(*(ExampleSuite(f"{hard}{index}", trials) for index in range(20)))
    await publish(place, pull, view_of(run, limits=Limits(min_pass_rate=1.0)))
    (comment,) = pull.comments
    assert len(comment.body.encode()) <= 65_536


async def test_a_secret_that_is_a_word_of_the_marker_makes_no_second_comment(place: Place, pull: Pull) -> None:
    for run in ("1000.1", "1001.1"):
        await publish(place, pull, view(run=run), redact=lambda text: text.replace("evals", "***"))
    (comment,) = pull.comments
    assert comment.body.count("evals") == 1
