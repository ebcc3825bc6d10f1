"""What is under test, reached over HTTP, a WebSocket or as a Python function."""

from scoregate.endpoints.invoking import invoke, plain, test
from scoregate.endpoints.open_target import open_target
from scoregate.endpoints.talk import EndpointTarget, Talk

__all__ = ["EndpointTarget", "Talk", "invoke", "open_target", "plain", "test"]
