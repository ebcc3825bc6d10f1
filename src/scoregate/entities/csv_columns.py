"""The columns of tests in a table, and what is said of them."""

from __future__ import annotations

REQUIRED = ("prompt_content", "category", "topic", "behavior")
PROMPT = {
    "prompt_content": "content",
    "expected_response": "expected_response",
    "language_code": "language_code",
    "prompt_id": "id",
}
CONVERSATION = ("goal", "instructions", "restrictions", "scenario", "min_turns", "max_turns")
COLUMNS = ("category", "topic", "behavior", "test_type", *PROMPT, *CONVERSATION, "metadata", "id")
OTHER_NAMES = {"requirement": "behavior"}
