"""Enumerations of tests, endpoints and runs."""

from __future__ import annotations

from enum import StrEnum


class TestType(StrEnum):
    """Whether a test is a single message or a conversation."""

    __test__ = False

    SINGLE_TURN = "Single-Turn"
    MULTI_TURN = "Multi-Turn"


class ExecutionMode(StrEnum):
    """Whether tests run in parallel."""

    PARALLEL = "Parallel"
    SEQUENTIAL = "Sequential"

    @classmethod
    def from_string(cls, text: str) -> ExecutionMode:
        """The mode of this name, without regard to case.

        Raises:
            ValueError: there is no such mode.
        """
        for mode in cls:
            if text.casefold() in (mode.value.casefold(), mode.name.casefold()):
                return mode
        raise ValueError(f"{text!r:.60} is not an execution mode; there are {', '.join(mode.value for mode in cls)}")


class ConnectionType(StrEnum):
    """The transport of an endpoint; SDK is a Python callable, MCP a server of tools."""

    REST = "REST"
    WEBSOCKET = "WebSocket"
    SDK = "SDK"
    MCP = "MCP"


class RunStatus(StrEnum):
    """The status of a run: completed (no errors), partial (some errors) or failed (only errors)."""

    PROGRESS = "Progress"
    COMPLETED = "Completed"
    PARTIAL = "Partial"
    FAILED = "Failed"
