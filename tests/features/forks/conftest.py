"""Projects, jobs and repositories for tests of this feature."""

from tests.fakes.fixtures import github
from tests.integration.github.conftest import place, repo
from tests.integration.host.conftest import project
from tests.integration.jobs.conftest import world

__all__ = ["github", "place", "project", "repo", "world"]
