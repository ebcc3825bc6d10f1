"""Evals of the agent that books boats: which tools it calls and how, and what it answers."""

from agent import Agent
from boats import Calendar

from scoregate import evaluate
from scoregate.evals import Trajectory
from scoregate.scorers import (
    called,
    contains,
    max_steps,
    never_called,
    no_repeated_calls,
    recovered_from_errors,
    tool_calls,
)


def run_agent(request: str, taken: list[str] | None = None, stale: list[str] | None = None) -> Trajectory:
    """Run the agent on a calendar of its own, so that cases don't see the bookings of others."""
    return Agent(Calendar(taken or [], stale or [])).run(request)


def reports_what_it_did(trajectory: Trajectory, output: str) -> bool:
    """Whether the answer claims a booking exactly if a call made one."""
    made = [call.result for call in trajectory.tool_calls if call.name == "book_boat" and call.error is None]
    return ("is booked" in output) == bool(made)


evaluate(
    "boat-agent",
    data="tasks.jsonl",
    task=run_agent,
    scorers=[
        tool_calls(args="subset"),  # compares with `expected_tool_calls`
        called("find_boats", (0, 1)),
        never_called("cancel_*"),
        max_steps(4),
        no_repeated_calls(),
        recovered_from_errors(),
        contains(name="answers"),
        reports_what_it_did,
    ],
)
