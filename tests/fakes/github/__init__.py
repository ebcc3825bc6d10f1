"""A stateful fake of GitHub's REST API on loopback, checked against GitHub's own description.

github = GitHub.start()                                  # or the fixture of tests.fakes.fixtures
repo = github.repository("acme/shop")
repo.commit("main", files={"README.md": "hello"})
repo.commit("feature", parents=[repo.branch("main")])
pull = repo.pull_request("feature")
repo.workflow_run(head_branch="main").upload("scores", {"run.json": "{}"})
token = github.token(contents="read", pull_requests="write", actions="read")
github.fail("POST", "*/issues/*/comments", status=502, after=True)
...                                                      # something talks to github.url
assert [comment.body for comment in pull.comments] == ["..."]
assert github.violations == []
"""

from tests.fakes.github.actions import Artifact, Run, bomb, zipped
from tests.fakes.github.exchange import Exchange
from tests.fakes.github.model import CheckRun, Comment, Pull, Status
from tests.fakes.github.repository import Repository
from tests.fakes.github.server import GitHub

__all__ = [
    "Artifact",
    "CheckRun",
    "Comment",
    "Exchange",
    "GitHub",
    "Pull",
    "Repository",
    "Run",
    "Status",
    "bomb",
    "zipped",
]
