"""An agent that follows rules, in place of a real one: it prints the events of Claude Code.

It loads each skill in its workspace whose keyword (`keyword: …` in SKILL.md) is in the prompt. What it knows are the
lines `KEY = VALUE` of the loaded skills and of AGENTS.md; it answers a prompt `… KEY` with the value, and writes it to
`answer.txt`. It also does what the first word of a prompt names: `hang`, `flood`, `fork`, `link`, `broken`, `stdin`.

Tests start it hundreds of times, so it imports only what Python has imported at its start.
"""

# ruff: noqa: PTH110, PTH112, PTH113, PTH118, PTH123, PTH208, PTH211

import os
import sys
import time
from _json import encode_basestring_ascii

FOLDER = ".claude/skills"


def main(prompt: str) -> None:
    emit(type="system", subtype="init", session_id="1", model="fake", tools=["Skill"], mcp_servers=[], skills=[])
    word, _, rest = prompt.partition(" ")
    if word in ACTIONS:
        ACTIONS[word](rest)
    known, tokens = {}, 100
    for name in sorted(os.listdir(FOLDER)) if os.path.isdir(FOLDER) else []:
        if not os.path.isfile(path := f"{FOLDER}/{name}/SKILL.md"):
            continue
        text = read(path)
        keywords = [line.removeprefix("keyword: ") for line in text.splitlines() if line.startswith("keyword: ")]
        if keywords and keywords[0] in prompt:
            use("Skill", {"skill": name}, "Launching skill")
            known |= read_facts(text)
            tokens += 1_900
    if os.path.exists("AGENTS.md"):
        known |= read_facts(read("AGENTS.md"))
    answer = next((known[key] for key in known if key in prompt.split()), "I don't know")
    write("answer.txt", answer)
    emit(type="assistant", message={"content": [{"type": "text", "text": answer}]})
    usage = {"input_tokens": tokens, "output_tokens": 10}
    emit(
        type="result", subtype="success", is_error=False, result=answer, num_turns=1, total_cost_usd=0.001, usage=usage
    )


def read_facts(text: str) -> dict[str, str]:
    parts = [line.partition(" = ") for line in text.splitlines()]
    return {key: value for key, _, value in parts if key.isidentifier() and value}


def use(tool: str, arguments: dict[str, object], result: str) -> None:
    emit(type="assistant", message={"content": [{"type": "tool_use", "id": "1", "name": tool, "input": arguments}]})
    emit(type="user", message={"content": [{"type": "tool_result", "tool_use_id": "1", "content": result}]})


def emit(**event: object) -> None:
    print(encode(event), flush=True)


def encode(value: object) -> str:
    """The value as JSON."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{encode_basestring_ascii(key)}: {encode(each)}' for key, each in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(encode, value))}]"
    return encode_basestring_ascii(value) if isinstance(value, str) else str(value).lower()


def read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def flood(_: str) -> None:
    while True:
        print("x" * 100_000)


def fork(file: str) -> None:
    if os.fork() == 0:
        os.setsid()
        while True:
            write(file, str(time.monotonic()))
            time.sleep(0.05)
    while not os.path.exists(file):
        time.sleep(0.01)


def link(target: str) -> None:
    """Replace a folder of the workspace by a link to the outside."""
    os.symlink(target, "notes")
    os.symlink(os.path.join(target, "secret.txt"), "copy.txt")


ACTIONS = {
    "hang": lambda _: time.sleep(600),
    "flood": flood,
    "fork": fork,
    "link": link,
    "broken": lambda _: print('{"type": "assistant", '),
    "stdin": lambda _: sys.stdin.read(),
}
main(sys.argv[-1])
