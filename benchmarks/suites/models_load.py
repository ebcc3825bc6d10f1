"""What the suites with models ask: a question a case, and a grading of its answer."""

MODEL = "gpt-4o"
GRADE_SCHEMA = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "choice": {"type": "string", "enum": ["A", "B"]}},
    "required": ["reason", "choice"],
    "additionalProperties": False,
}
PARAGRAPH = "The customer has bought a kettle that leaks, and wants to know what can be done about it. " * 10
CRITERIA = "The answer explains what can be done about the kettle, and promises nothing that the shop can't keep."


def question(case: int) -> str:
    """Return what the target asks."""
    return f"{PARAGRAPH}\nCase {case}: what do you answer?"


def grading(case: int, output: str) -> str:
    """Return what the bare loop's judge asks; frameworks have words of their own around the same."""
    return f"{CRITERIA} Is it so? Choose A (yes) or B (no).\n\n{question(case)}\n\n{output}"
