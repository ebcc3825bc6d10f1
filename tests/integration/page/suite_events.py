"""What a suite in any language would say: written as events, so that everything a record can hold is in it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

WORSE = "--worse" in sys.argv
MARKUP = (
    "</script><script>window.pwned = 1</script>",
    "<img src=x onerror='window.pwned = 1'>",
    '"><svg onload=window.pwned=1>',
    "<!--<script>",
    "</textarea></title></style><iframe srcdoc='<script>top.pwned=1</script>'></iframe>",
    "javascript:window.pwned=1",
    "&lt;b&gt;not bold&lt;/b&gt; {{ 7 * 7 }} ${7 * 7}",
    "left\u202eright\u2066 \u0000 \u2028 \x1b[31mred",
    "]]></script/><a href='https://evil.example/'>click</a>",
    "<meta http-equiv=refresh content='0;url=https://evil.example/'>",
    "<form action=https://evil.example><button>go</button></form>",
    "__proto__",
)


class Log:
    """The events of one suite."""

    def __init__(self, suite: str) -> None:
        self._suite = suite
        name = suite.partition(" ")[0]
        self._file = (Path(os.environ["SCOREGATE_EVENTS"]) / f"{name}.jsonl").open("w", encoding="utf-8")

    def say(self, kind: str, **given: Any) -> None:
        self._file.write(json.dumps({"v": 1, "suite": self._suite, "type": kind, **given}) + "\n")
        self._file.flush()


def span(number: int, name: str, parent: str, *, start: int, end: int, **attributes: Any) -> dict[str, Any]:
    at = {"start_ns": start * 10**6, "end_ns": end * 10**6, "kind": 1, "events": [], "error": None}
    return {"span_id": str(number), "name": name, "parent_id": parent, "attributes": attributes, **at}


def talk(worse: bool) -> dict[str, Any]:
    turns = [
        {"user": "My lamp never came.", "assistant": "May I have your order number?"},
        {"user": "It is 4411.", "assistant": "I have " + ("asked the carrier." if worse else "sent a new one.")},
    ]
    more = [{"user": "And now?", "assistant": "Please wait."}] if worse else []
    ended = "max_turns" if worse else "goal"
    findings = {"ended": ended, "goal_achieved": not worse, "findings": ["no replacement"] if worse else []}
    return {"type": "conversation", "turns": turns + more, **findings}


def bot() -> None:
    log = Log("support-bot")
    log.say("suite_started", cases=40, origin={"file": "evals/bot.py", "line": 12})
    for index in range(40):
        bad = WORSE and index % 4 == 0
        case = {"case": f"c{index}"}
        tags = ["critical"] if index == 4 else ["refunds"] if index % 2 else []
        log.say(
            "case_started", **case, name=f"question {index}", input={"text": f"May I return item {index}?"}, tags=tags
        )
        answer = f"You can return it for a refund{'' if bad else ' or store credit'} within 30 days. Item {index}."
        spans = [
            span(1, "agent", "", start=0, end=900),
            span(2, "retrieve", "1", start=10, end=200, query="returns"),
            span(3, "chat", "1", start=210, end=880, model="small"),
        ]
        usage = {"input_tokens": 400, "output_tokens": 52, "cost": 0.0011, "model": "small"}
        trace = {"trace_id": "0" * 32, "spans": spans}
        log.say("case_output", **case, output=answer, duration_ms=400.0 + 7 * index, usage=usage, trace=trace)
        criteria = [
            {"criterion": "names the 30 days", "passed": True, "required": True},
            {"criterion": "offers store credit", "passed": not bad, "required": True},
        ]
        reason = "leaves out the voucherlike part" if bad else "all there"
        log.say(
            "scored", **case, evaluator="complete", score=0 if bad else 1, threshold={"gte": 1}, assertions=criteria
        )
        log.say(
            "scored", **case, evaluator="tone", score=0.8, metadata={"reason": reason, "prompt": "You judge. " * 90}
        )
        log.say("case_finished", **case)
    log.say("suite_finished")


def talks() -> None:
    log = Log("talks")
    log.say("suite_started", cases=3)
    for index in range(3):
        bad = WORSE and index == 0
        case = {"case": f"t{index}"}
        log.say("case_started", **case, name=f"lost parcel {index}")
        log.say("tool_called", **case, name="find_order", arguments={"number": 4411}, result={"state": "lost"})
        later = {"name": "ask_carrier", "error": "closed"} if bad else {"name": "send_again", "duration_ms": 12.0}
        log.say("tool_called", **case, **later)
        log.say("case_output", **case, output=talk(bad), duration_ms=2000.0)
        log.say("scored", **case, evaluator="goal", score=0 if bad else 1, threshold={"gte": 1})
        log.say("case_finished", **case)
    log.say("suite_finished")


def repeated() -> None:
    log = Log("router")
    log.say("suite_started", cases=12)
    for index in range(4):
        for repeat in range(3):
            bad = WORSE and index == 1 and repeat == 2
            case = {"case": f"r{index}", "repeat": repeat}
            log.say("case_started", **case, name=f"ticket {index}")
            log.say("case_output", **case, output="sales" if bad else "billing", duration_ms=100.0 + repeat)
            log.say("scored", **case, evaluator="is-equals", score=0 if bad else 1)
            log.say("case_finished", **case)
    case = {"case": "broken"}
    log.say("case_started", **case, name="the broken one")
    error = {"type": "TimeoutError", "message": "no answer after 60 s", "traceback": "Traceback: …", "advice": ""}
    log.say("errored", **case, stage="task", error=error)
    log.say("case_finished", **case)
    log.say("suite_finished")


def hostile() -> None:
    log = Log(f"hostile {MARKUP[0]}")
    log.say("suite_started", cases=len(MARKUP), origin={"file": MARKUP[1], "line": 3})
    for index, text in enumerate(MARKUP):
        case = {"case": f"{text} {index}"}
        log.say("case_started", **case, name=text, input={text: text}, tags=[text])
        log.say("case_output", **case, output=f"{text} {'now' if WORSE else 'before'} {text}")
        criteria = [{"criterion": text, "passed": False, "required": True, "metadata": {text: text}}]
        log.say("tool_called", **case, name=text, arguments={text: text}, result=text, error=text, agent=text)
        log.say(
            "scored", **case, evaluator=text, score=0, threshold={"gte": 1}, metadata={text: text}, assertions=criteria
        )
        log.say("errored", **case, stage="evaluator", evaluator="e" + text, error={"type": text, "message": text})
        log.say("case_finished", **case)
    log.say("suite_finished")


for suite in {"bot": (bot, talks, repeated), "hostile": (hostile,)}[sys.argv[1]]:
    suite()
