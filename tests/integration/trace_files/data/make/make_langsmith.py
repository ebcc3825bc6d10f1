"""Runs of langsmith's SDK in the form of `client.list_runs`, recorded locally: `python make_langsmith.py FOLDER`."""

import json
import sys
from contextlib import suppress
from pathlib import Path
from uuid import UUID

from conversations import CONVERSATIONS, MODEL, make_exchanges
from langsmith import traceable, tracing_context
from langsmith.run_helpers import get_current_run_tree
from langsmith.schemas import Run

roots = []


@traceable(run_type="llm", metadata={"ls_provider": "openai", "ls_model_name": MODEL})
def complete(messages, reply):
    return {"choices": [{"message": reply}], "usage_metadata": {"total_tokens": 25}}


@traceable(run_type="tool")
def look_up(arguments, result, error):
    if error:
        raise ValueError(error)
    return result


@traceable(run_type="chain", name="shop", tags=["web"], metadata={"thread_id": "s1"})
def answer_question(question, conversation):
    roots.append(get_current_run_tree())
    _, arguments, result, answer, error = conversation
    for number, (request, reply) in enumerate(make_exchanges(question, arguments, result, answer)):
        complete(messages=request, reply=reply)
        if not number:
            look_up(arguments, result, error)
    return answer


def list_runs(tree):
    yield tree
    for child in tree.child_runs:
        yield from list_runs(child)


with tracing_context(enabled="local"):
    for conversation in CONVERSATIONS:
        with suppress(ValueError):
            answer_question(conversation[0], conversation)
with (Path(sys.argv[1]) / "langsmith.jsonl").open("w") as out:
    for tree in (each for root in roots for each in list_runs(root)):
        known = {name: value for name, value in tree.model_dump(exclude={"client"}).items() if name in Run.model_fields}
        inputs = dict(known["inputs"])
        inputs.pop("conversation", None)
        if tree.run_type == "llm":
            inputs = {"messages": inputs["messages"]}
        if tree.run_type == "tool":
            inputs = inputs["arguments"]
        known |= {"inputs": inputs, "child_runs": None, "session_id": UUID(int=1)}
        run = Run(**known)
        row = json.loads(run.model_dump_json())
        row["trace_id"], row["dotted_order"] = str(tree.trace_id), tree.dotted_order
        row["error"] = row["error"] and row["error"].splitlines()[0]
        out.write(json.dumps(row) + "\n")
