"""Three runs of four cases with scores, assertions, labels and failures: a report of pydantic-evals as JSON."""

import sys
from dataclasses import dataclass
from pathlib import Path

from pydantic_evals import Case, Dataset
from pydantic_evals.dataset import increment_eval_metric, set_eval_attribute
from pydantic_evals.evaluators import EvaluationReason, Evaluator, EvaluatorContext, IsInstance
from pydantic_evals.reporting import EvaluationReportAdapter


@dataclass
class Judge(Evaluator[str, str]):
    def evaluate(self, ctx: EvaluatorContext[str, str]):
        if ctx.output == "?":
            raise ValueError("nothing to judge")
        right = ctx.output == ctx.expected_output
        return {
            "correct": EvaluationReason(right, f"{ctx.output} for {ctx.expected_output}"),
            "closeness": 0.9 if right else 0.3,
            "stars": 5 if right else 2,
            "tone": "dry",
        }


def answer(question: str) -> str:
    if "Nowhere" in question:
        raise RuntimeError("the tool is gone")
    increment_eval_metric("cost", 0.0005)
    increment_eval_metric("input_tokens", 7)
    increment_eval_metric("output_tokens", 2)
    set_eval_attribute("model", "rules-1")
    return {"France": "Paris", "Italy": "Milan", "Peru": "?"}[question.rsplit(maxsplit=1)[-1].rstrip("?")]


def main(out: Path) -> None:
    dataset = Dataset(
        name="capitals",
        cases=[
            Case(name="france", inputs="The capital of France?", expected_output="Paris", metadata={"level": "easy"}),
            Case(inputs="The capital of Italy?", expected_output="Rome"),
            Case(name="peru", inputs="The capital of Peru?", expected_output="Lima"),
            Case(name="nowhere", inputs="The capital of Nowhere?", expected_output=""),
        ],
        evaluators=[Judge(), IsInstance(type_name="str")],
    )
    for name, repeat in (("pydantic-evals.json", 3), ("pydantic-evals-once.json", 1)):
        report = dataset.evaluate_sync(answer, progress=False, repeat=repeat, metadata={"scales": {"stars": [1, 5]}})
        (out / name).write_bytes(EvaluationReportAdapter.dump_json(report, indent=1))


main(Path(sys.argv[1]))
