"""A stateful fake of GitHub's REST API on loopback, held to GitHub's own description."""

from tests.fakes.github.actions import Artifact, Run, bomb, zipped
from tests.fakes.github.exchange import Exchange
from tests.fakes.github.model import CheckRun, Comment, Pull
from tests.fakes.github.repository import Repository
from tests.fakes.github.server import GitHub

__all__ = ["Artifact", "CheckRun", "Comment", "Exchange", "GitHub", "Pull", "Repository", "Run", "bomb", "zipped"]
