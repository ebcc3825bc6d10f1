from tests.features.gateway.conftest import provider
from tests.integration.host.conftest import project

__all__ = ["project", "provider"]
