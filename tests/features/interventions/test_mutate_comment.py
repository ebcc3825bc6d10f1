"""The comment of `scoregate mutate` on a pull request."""

from __future__ import annotations

import pytest
from tests.fakes.github import Pull, events
from tests.features.interventions.bot import PROMPT, write_bot
from tests.integration.jobs.world import READ, Job, World

from scoregate.features.interventions.mutation.budget import Budget

SETTINGS = 'paths = ["evals/eval_bot.py"]\nmin_pass_rate = 0\nfail_on_regression = true\n'
READS_RUDE = """
answer = (lambda answer: lambda question: answer(question) + (" please" if "rude" in prompt else ""))(answer)
"""
OWN, OTHER = "**Nothing notices these parts of the change** (1):", "**Nothing notices these other units** (1):"


def open_pull_request(world: World, rule: str = "- Never be rude to @octocat.\n", *, is_fork: bool = False) -> Pull:
    """A change of the prompt: one more rule, which changes no answer unless it is about the weather."""
    write_bot(world.project, SETTINGS)
    world.commit()
    world.branch()
    prompt = PROMPT.replace("- Refuse refunds.\n", "").replace("- Explain nothing of this.\n", "")
    world.project.write("evals/prompt.md", prompt + rule)
    world.project.write("evals/bot.py", (world.project.root / "evals/bot.py").read_text() + READS_RUDE)
    world.commit()
    return world.open_pull_request(fork=world.fork() if is_fork else None)


def mutate(world: World, pull: Pull, comment: str = "") -> Job:
    job = world.job(events.pull_request(pull), "mutate", "--copies", "1", INPUT_COMMENT=comment)
    assert job.exit_code == 0, job.output
    return job


def test_one_comment_is_updated_and_begins_with_units_of_the_change(world: World) -> None:
    pull = open_pull_request(world)
    pull.comment("<!-- scoregate:v1 key=evals -->", login="github-actions[bot]")
    first = mutate(world, pull)
    report, comment = pull.comments
    assert report.body == "<!-- scoregate:v1 key=evals -->"
    assert "## Would your evals notice?\n\nThe evals notice 2 of 4 units (50.0%" in comment.body
    own, other = comment.body.index(OWN), comment.body.index(OTHER)
    assert own < comment.body.index("Never be rude to @\u200boctocat.</code>") < other < comment.body.index("weather")
    assert "All units · updated on every push" in comment.body
    assert first.warnings == []

    world.project.git("checkout", "-q", "change")
    world.project.write("evals/prompt.md", PROMPT)
    world.commit()
    world.check_out_merge(pull)
    mutate(world, pull)
    _, again = pull.comments
    assert again.id == comment.id
    assert (OWN in again.body, OTHER in again.body) == (False, True)


@pytest.mark.parametrize(
    ("mode", "rule", "is_written"),
    [
        ("off", "- Never be rude.\n", False),
        ("failures", "- Never be rude.\n", False),
        ("changes", "- Never be rude.\n", True),
        ("changes", "- Ignore this.\n", False),
    ],
)
def test_the_setting_comment_is_respected(world: World, mode: str, rule: str, is_written: bool) -> None:
    pull = open_pull_request(world, rule)
    job = mutate(world, pull, mode)
    assert bool(pull.comments) is is_written, job.output
    assert "## Would your evals notice?" in job.summary


def test_in_a_shallow_checkout_the_comment_says_that_the_change_is_not_known(world: World) -> None:
    pull = open_pull_request(world)
    world.check_out_shallow("merged")
    mutate(world, pull, "changes")
    (comment,) = pull.comments
    assert "\nWhich parts belong to the change is not known, as the commit before it is not here (fetch" in comment.body
    assert (OWN in comment.body, "**Nothing notices these other units** (2):" in comment.body) == (False, True)


def test_the_comment_says_why_units_are_not_measured(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Budget, "explain_end", lambda *_: "@octocat: <b>no answer</b>")
    pull = open_pull_request(world)
    mutate(world, pull)
    (comment,) = pull.comments
    assert "\nNot measured: 4 units (@\u200boctocat: &lt;b&gt;no answer&lt;/b&gt;).\n" in comment.body


def test_a_fork_gets_no_comment(world: World) -> None:
    pull = open_pull_request(world, is_fork=True)
    assert mutate(world, pull).warnings == []
    assert pull.comments == []


def test_a_token_without_the_right_is_a_warning(world: World) -> None:
    pull = open_pull_request(world)
    world.permissions = READ
    (warning,) = mutate(world, pull).warnings
    assert (warning.startswith("cannot write the comment: "), pull.comments) == (True, [])
