"""Projects for tests of this feature."""

from tests.integration.host.conftest import project

__all__ = ["project"]
