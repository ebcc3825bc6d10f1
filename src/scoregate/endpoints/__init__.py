"""What is under test, reached over HTTP, a WebSocket or as a Python function."""

from scoregate.endpoints.invoking import invoke
from scoregate.endpoints.open_target import open_target
from scoregate.endpoints.target import EndpointTarget

__all__ = ["EndpointTarget", "invoke", "open_target"]
