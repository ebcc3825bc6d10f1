"""ragas' metrics on the rows of `retrieval_agreement.py`, as its documentation uses them."""
# mypy: disable-error-code="import-not-found"

from functools import partial
from typing import Any

from agreement_rows import MODEL, Row, Scored, read_texts, score_rows
from openai import AsyncOpenAI
from ragas.llms import llm_factory
from ragas.metrics.collections import ContextPrecision, ContextRecall, Faithfulness

FIELDS = {
    "faithfulness": ("user_input", "response", "retrieved_contexts"),
    "context_precision": ("user_input", "reference", "retrieved_contexts"),
    "context_recall": ("user_input", "reference", "retrieved_contexts"),
}
METRICS = {"faithfulness": Faithfulness, "context_precision": ContextPrecision, "context_recall": ContextRecall}

answers: "list[dict[str, Any]]" = []
llm = llm_factory(MODEL, client=AsyncOpenAI(max_retries=0))
ask = llm.agenerate


async def ask_and_keep(prompt: str, schema: type) -> Any:
    """Keep the model's answers: ragas returns the score alone."""
    answer = await ask(prompt, schema)
    answers.append(answer.model_dump())
    return answer


async def score(name: str, metric: Any, row: Row) -> Scored:
    """Score one row."""
    answers.clear()
    values = {
        "user_input": row["input"],
        "response": row["answer"],
        "reference": row["expected"],
        "retrieved_contexts": read_texts(row),
    }
    result = await metric.ascore(**{field: values[field] for field in FIELDS[name]})
    judged = answers if name == "context_precision" else next(iter(answers[-1].values()))
    verdicts = [each.get("verdict", each.get("attributed")) for each in judged if isinstance(each, dict)]
    return Scored(result.value, ["yes" if each else "no" for each in verdicts])


llm.agenerate = ask_and_keep
score_rows("ragas", {name: partial(score, name, metric(llm=llm)) for name, metric in METRICS.items()})
