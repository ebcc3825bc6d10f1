"""Conversations for the tests, of every form that the types allow."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from scoregate.kernel.types.conversation import Conversation, EndReason, Turn

words = st.text(max_size=30)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(words, values, max_size=3)
turns = st.builds(
    Turn,
    words,
    words,
    reasoning=words,
    duration_ms=st.none() | st.floats(min_value=0, allow_infinity=False),
    context=st.lists(words, max_size=3).map(tuple),
    tool_calls=st.lists(objects, max_size=2).map(tuple),
    metadata=objects,
)
conversations = st.builds(
    Conversation,
    st.lists(turns, max_size=4).map(tuple),
    ended=st.none() | st.sampled_from(EndReason),
    goal_achieved=st.none() | st.booleans(),
    findings=st.lists(words, max_size=3).map(tuple),
)


def said(*pairs: tuple[str, str], **fields: Any) -> Conversation:
    """A conversation of pairs: the user's message and the answer."""
    return Conversation(tuple(Turn(*pair) for pair in pairs), **fields)
