"""scoregate's scorers of retrieval on the rows of `retrieval_agreement.py`."""

from functools import partial

from agreement_rows import MODEL, Row, Scored, score_rows

from scoregate.scorers import (
    RetrievalJudge,
    answer_relevancy,
    context_precision,
    context_recall,
    faithfulness,
    hallucination_free,
)


async def score(judge: RetrievalJudge, row: Row) -> Scored:
    """Score one row."""
    output = {"answer": row["answer"], "contexts": row["contexts"]}
    evaluation = await judge(output, row["input"], row["expected"])
    if evaluation is None:
        return Scored(None, "no claim")
    verdicts = (evaluation.metadata or {}).get("verdicts", [])
    return Scored(evaluation.score, ["yes" if each["answer"] else "no" for each in verdicts])


JUDGES = (faithfulness, hallucination_free, answer_relevancy, context_precision, context_recall)

if __name__ == "__main__":
    score_rows("scoregate", {each.__name__: partial(score, each(model=MODEL)) for each in JUDGES})
