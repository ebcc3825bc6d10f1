"""A model that answers the prompts of scoregate, ragas and DeepEval about retrieval, by the rule of `text_rules`.

It follows each prompt. Asked for facts or claims, it leaves out greetings, offers and refusals; asked for statements
or sentences, it lists them. Asked what is supported, it knows yes and no; where a prompt has a third verdict, an
unsupported claim is "no" if the context contradicts it, else "borderline".
"""

import ast
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from text_rules import (
    ABOUT,
    is_contradicted,
    is_supported,
    measure_overlap,
    split_claims,
    split_sentences,
    split_statements,
)

Reply = Mapping[str, Any]
_REASON = "by its words"
_BLOCK = re.compile(r"^(=+ \S+) BEGIN ([^\n]+)\n(.*?)\n\1 END \2$", re.MULTILINE | re.DOTALL)
_LIST_NUMBER = re.compile(r"^\d+\. ", re.MULTILINE)


def answer_prompt(prompt: str) -> Reply | None:
    """Return the answer to a prompt; None if it is of none of the three tools."""
    for words, answer in _PROMPTS.items():
        if words in prompt:
            return answer(prompt)
    return None


def is_useful(passage: str, expected: str) -> bool:
    """Return whether a passage has at least half of the words of a claim of the expected answer."""
    return any(measure_overlap(claim, passage) >= ABOUT for claim in split_claims(expected))


def _judge_support(claim: str, context: str) -> str:
    if is_supported(claim, context):
        return "yes"
    return "no" if is_contradicted(claim, context) else "borderline"


def _judge_relevance(statement: str, question: str) -> str:
    share = measure_overlap(question, statement)
    return "yes" if share >= ABOUT else "borderline" if share else "no"


# scoregate


def _read_blocks(prompt: str) -> dict[str, str]:
    return {name: text for _, name, text in _BLOCK.findall(prompt)}


def _answer_claims(prompt: str) -> Reply:
    blocks = _read_blocks(prompt)
    context = _LIST_NUMBER.sub("", blocks.get("context", ""))
    claims = []
    for claim in split_claims(blocks.get("expected output", blocks.get("output", ""))):
        relevance = _judge_support(claim, context) if "context" in blocks else _judge_relevance(claim, blocks["input"])
        claims.append({"claim": claim, "reason": _REASON, "answer": "Yes" if relevance == "yes" else "No"})
    return {"claims": claims}


def _answer_passages(prompt: str) -> Reply:
    blocks = _read_blocks(prompt)
    passages = [text for name, text in blocks.items() if name.startswith("passage ")]
    answers = ["Yes" if is_useful(each, blocks["expected output"]) else "No" for each in passages]
    return {
        "answers": [{"number": at, "reason": _REASON, "answer": answer} for at, answer in enumerate(answers, 1)],
    }


# ragas: prompts end with their input, as JSON


def _read_input(prompt: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(prompt.rpartition("\ninput: ")[2].rpartition("\nOutput:")[0])
    return found


def _list_statements(prompt: str) -> Reply:
    return {"statements": split_statements(_read_input(prompt)["answer"])}


def _infer_statements(prompt: str) -> Reply:
    given = _read_input(prompt)
    verdicts = [(each, is_supported(each, given["context"])) for each in given["statements"]]
    return {"statements": [{"statement": s, "reason": _REASON, "verdict": int(v)} for s, v in verdicts]}


def _verify_context(prompt: str) -> Reply:
    given = _read_input(prompt)
    return {"reason": _REASON, "verdict": int(is_useful(given["context"], given["answer"]))}


def _attribute_statements(prompt: str) -> Reply:
    given = _read_input(prompt)
    verdicts = [(each, is_supported(each, given["context"])) for each in split_statements(given["answer"])]
    return {"classifications": [{"statement": s, "reason": _REASON, "attributed": int(v)} for s, v in verdicts]}


# DeepEval: prompts end with their parts, each below its name


def _read_part(prompt: str, name: str, following: str = "JSON:") -> str:
    return prompt.rpartition(f"\n{name}:\n")[2].rpartition(f"\n\n{following}")[0].strip()


def _read_list(text: str) -> list[str]:
    found: list[str] = ast.literal_eval(text)
    return found


def _give_verdicts(verdicts: list[str]) -> Reply:
    return {"verdicts": [{"verdict": each, "reason": _REASON} for each in verdicts]}


def _list_truths(prompt: str) -> Reply:
    return {"truths": split_claims(_read_part(prompt, "Text"))}


def _list_claims(prompt: str) -> Reply:
    return {"claims": split_claims(_read_part(prompt, "AI Output"))}


def _judge_claims(prompt: str) -> Reply:
    context = _read_part(prompt, "Retrieval Contexts", "Claims:\n")
    return _give_verdicts([_judge_support(each, context) for each in _read_list(_read_part(prompt, "Claims"))])


def _break_down(prompt: str) -> Reply:
    return {"statements": split_statements(_read_part(prompt, "Text"))}


def _judge_statements(prompt: str) -> Reply:
    question = _read_part(prompt, "Input", "Statements:\n")
    return _give_verdicts([_judge_relevance(each, question) for each in _read_list(_read_part(prompt, "Statements"))])


def _judge_nodes(prompt: str) -> Reply:
    expected, _, nodes = _read_part(prompt, "Expected output").partition("\n\nRetrieval Context ")
    listed = _read_list(nodes.partition(":\n")[2])
    return _give_verdicts(["yes" if is_useful(each, expected) else "no" for each in listed])


def _judge_sentences(prompt: str) -> Reply:
    expected = _read_part(prompt, "Expected Output", "Retrieval Context:\n")
    context = "\n".join(_read_list(_read_part(prompt, "Retrieval Context")))
    return _give_verdicts(["yes" if is_supported(each, context) else "no" for each in split_sentences(expected)])


def _judge_contexts(prompt: str) -> Reply:
    contexts = _read_list(_read_part(prompt, "Contexts", "Actual Output:\n"))
    claims = split_claims(_read_part(prompt, "Actual Output"))
    return _give_verdicts(
        ["no" if any(is_contradicted(claim, context) for claim in claims) else "yes" for context in contexts]
    )


_PROMPTS: dict[str, Callable[[str], Reply]] = {
    "Question: which claims does ": _answer_claims,
    "Question: for each numbered passage": _answer_passages,
    "analyze the complexity of each sentence in the answer": _list_statements,
    "judge the faithfulness of a series of statements": _infer_statements,
    "verify if the context was useful in arriving at the given answer": _verify_context,
    "classify if the statement can be attributed to the given context": _attribute_statements,
    "please generate a comprehensive list of FACTUAL, undisputed truths": _list_truths,
    "please extract a comprehensive list of FACTUAL, undisputed truths": _list_claims,
    "indicate whether EACH claim contradicts any facts in the retrieval context": _judge_claims,
    "breakdown and generate a list of statements presented": _break_down,
    "determine whether each statement is relevant to address the input": _judge_statements,
    "each node in the retrieval context was remotely useful": _judge_nodes,
    "in the given expected output below, determine whether": _judge_sentences,
    "indicate whether the given 'actual output' agrees with EACH context": _judge_contexts,
}
