"""An instant agent: each case has a trajectory of 100 steps, half of them tool calls, and three scorers of it."""

from load import CASES, CONCURRENCY

from scoregate import evaluate
from scoregate.evals import Message, ToolCall, Trajectory
from scoregate.scorers import called, max_steps, never_called

STEPS = 100


def run_agent(question: str) -> Trajectory:
    """Search 50 times and describe each result."""
    steps: list[Message | ToolCall] = []
    for number in range(STEPS // 2):
        arguments = {"query": f"{question} {number}", "limit": 10}
        steps.append(ToolCall("search", arguments, result=f"page {number}: {'text ' * 30}", duration_s=0.01))
        steps.append(Message("assistant", f"Page {number} about {question} does not answer it. {'More. ' * 10}"))
    return Trajectory(steps, output="No page answers it.")


evaluate(
    "trajectories",
    data=({"id": str(number), "input": f"question {number}"} for number in range(CASES)),
    task=run_agent,
    scorers=[called("search", times=STEPS // 2), never_called("delete"), max_steps(STEPS)],
    concurrency=CONCURRENCY,
)
