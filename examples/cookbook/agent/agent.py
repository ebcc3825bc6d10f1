"""An agent that books boats with tools: it looks for free boats, books one and reports what it did."""

import re
from collections.abc import Callable
from typing import Any

from boats import Calendar

from scoregate.evals import Message, ToolCall, Trajectory


class Agent:
    """Plans by rules where your agent would ask a model, and records its steps."""

    def __init__(self, calendar: Calendar) -> None:
        self.calendar = calendar
        self.steps: list[Message | ToolCall] = []

    def run(self, request: str) -> Trajectory:
        """Serve a request."""
        self.steps.append(Message("user", request))
        self.steps.append(Message("assistant", self.serve(request)))
        return Trajectory(self.steps)

    def serve(self, request: str) -> str:
        """Call tools, and give the answer."""
        people, day = re.search(r"(\d+) people", request), re.search(r"\b(\w+day)\b", request)
        if not people or not day:
            return "For how many people, and on which day?"
        for boat in self.call(self.calendar.find_boats, day=day[1], people=int(people[1])) or ():
            if booked := self.call(self.calendar.book_boat, boat=boat, day=day[1]):
                return f"{booked}."
        return f"No boat for {people[1]} people is free on {day[1]}."

    def call(self, tool: Callable[..., Any], **arguments: Any) -> Any:
        """Call a tool and record the call. A tool that fails gives None."""
        try:
            result, error = tool(**arguments), None
        except ValueError as problem:
            result, error = None, str(problem)
        self.steps.append(ToolCall(tool.__name__, arguments, result, error))
        return result
