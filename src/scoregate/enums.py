"""The words that tests, endpoints and runs are described with."""

from __future__ import annotations

from enum import StrEnum


class TestType(StrEnum):
    """Whether a test is one question or a conversation."""

    __test__ = False

    SINGLE_TURN = "Single-Turn"
    MULTI_TURN = "Multi-Turn"


class ExecutionMode(StrEnum):
    """Whether tests run side by side or one after another."""

    PARALLEL = "Parallel"
    SEQUENTIAL = "Sequential"

    @classmethod
    def from_string(cls, text: str) -> ExecutionMode:
        """The mode of this name, in whatever case.

        Raises:
            ValueError: there is none.
        """
        for mode in cls:
            if text.casefold() in (mode.value.casefold(), mode.name.casefold()):
                return mode
        raise ValueError(f"{text!r:.60} is no execution mode; there are {', '.join(mode.value for mode in cls)}")


class ConnectionType(StrEnum):
    """How an endpoint is reached; SDK is a Python callable."""

    REST = "REST"
    WEBSOCKET = "WebSocket"
    SDK = "SDK"


class RunStatus(StrEnum):
    """How a run of a test set ended: with no errors, only errors, or some."""

    PROGRESS = "Progress"
    COMPLETED = "Completed"
    PARTIAL = "Partial"
    FAILED = "Failed"
