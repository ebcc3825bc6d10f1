"""Projects and jobs for tests of this feature."""

from tests.fakes.fixtures import github
from tests.integration.host.conftest import project
from tests.integration.jobs.conftest import world

__all__ = ["github", "project", "world"]
