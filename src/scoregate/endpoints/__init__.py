"""The system under test: an HTTP service, a WebSocket service, a Python function or an MCP server."""

from scoregate.endpoints.open_target import invoke, open_target
from scoregate.endpoints.target import EndpointTarget

__all__ = ["EndpointTarget", "invoke", "open_target"]
