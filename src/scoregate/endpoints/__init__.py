"""What is under test, reached over HTTP, a WebSocket or as a Python function."""

from scoregate.endpoints.open_target import open_target
from scoregate.endpoints.talk import EndpointTarget

__all__ = ["EndpointTarget", "open_target"]
