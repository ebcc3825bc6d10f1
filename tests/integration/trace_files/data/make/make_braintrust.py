"""Spans of braintrust's SDK as it sends them, kept in memory: `python make_braintrust.py FOLDER`."""

import json
import sys
from pathlib import Path

from braintrust import logger as own
from braintrust.test_helpers import init_test_logger
from conversations import CONVERSATIONS, MODEL, make_exchanges

with own._internal_with_memory_background_logger() as memory:
    shop = init_test_logger("shop")
    for question, arguments, result, answer, error in CONVERSATIONS:
        with shop.start_span(name="shop", type="task", input={"question": question}) as root:
            for number, (request, reply) in enumerate(make_exchanges(question, arguments, result, answer)):
                with root.start_span(name="chat", type="llm", input=request) as span:
                    span.log(output=[{"index": 0, "message": reply}], metadata={"model": MODEL}, metrics={"tokens": 25})
                if not number:
                    with root.start_span(name="look_up", type="tool", input=arguments) as span:
                        span.log(**({"error": error} if error else {"output": result}))
            root.log(
                output=answer,
                tags=["web"],
                scores={"helpful": 0 if error else 1},
                **({"error": error} if error else {}),
            )
            root.log(expected="We open at 9." if not error else None, metadata={"session_id": "s1"})
    rows = memory.pop()
with (Path(sys.argv[1]) / "braintrust.jsonl").open("w") as out:
    for row in rows:
        row.pop("context", None)
        out.write(json.dumps(row, default=str) + "\n")
