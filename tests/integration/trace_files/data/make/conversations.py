"""What all traces of these files record: a question, a tool, an answer; a near duplicate; and a failure."""

import json

MODEL = "gpt-5-mini"
SYSTEM = {"role": "system", "content": "You answer for a shop."}
CONVERSATIONS = (
    ("When do you open on Sunday?", {"day": "Sunday"}, "9 to 17", "We open at 9.", None),
    ("when do you open on sunday", {"day": "Sunday"}, "9 to 17", "At 9 o'clock.", None),
    ("Where is order 1234?", {"order": 1234}, None, "", "no such order"),
)


def make_exchanges(question, arguments, result, answer):
    """The two calls of the model: the request and the answer of each, as messages of OpenAI's chats."""
    function = {"name": "look_up", "arguments": json.dumps(arguments)}
    call = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1", "function": function, "type": "function"}],
    }
    first = [SYSTEM, {"role": "user", "content": question}]
    yield first, call
    if result is not None:
        yield (
            [*first, call, {"role": "tool", "tool_call_id": "call_1", "content": result}],
            {"role": "assistant", "content": answer},
        )
