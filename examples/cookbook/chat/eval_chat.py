"""Evals of the reservations assistant: a case is a conversation, and the task plays the turns of the guest."""

from assistant import QUESTIONS, Assistant

from scoregate import evaluate
from scoregate.evals import Trajectory
from scoregate.scorers import contains_all, length, scorer


def play(turns: list[str]) -> Trajectory:
    """Send the turns to a new assistant. The output of a trajectory is the last answer."""
    assistant = Assistant()
    for turn in turns:
        assistant.reply(turn)
    return Trajectory.from_messages(assistant.messages)


@scorer(threshold=1)
def remembers(output: str, turns: list[str], expected: list[str]) -> float | None:
    """The share of the facts from earlier turns that the last answer has."""
    earlier = " ".join(turns[:-1]).lower()
    facts = [fact for fact in expected if fact.lower() in earlier]
    return sum(fact in output for fact in facts) / len(facts) if facts else None


def asks_once(trajectory: Trajectory, most_questions: int) -> dict[str, bool]:
    """Whether the assistant repeats no question, and asks no more than it has to."""
    questions = [each.text for each in trajectory.messages if each.text in QUESTIONS.values()]
    return {"no_repeats": len(questions) == len(set(questions)), "no_excess": len(questions) <= most_questions}


evaluate(
    "reservations",
    data="conversations.jsonl",
    task=play,
    scorers=[contains_all(name="confirms"), remembers, asks_once, length(max=120)],
)
