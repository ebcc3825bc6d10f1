"""Two epochs of five samples, three scorers, one sample that raises: `.eval` and `.json` logs of inspect_ai."""

import shutil
import sys
from pathlib import Path

from inspect_ai import Task, eval as run_eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, Target, match, mean, scorer
from inspect_ai.solver import Generate, TaskState, generate, solver

LONG = "Think it over before you answer. " * 20


ANSWERS = {"France": "Paris", "Italy": "Milan", "Spain": "Madrid", "Germany": "Berlin"}


def answer(input, tools, tool_choice, config) -> ModelOutput:
    country = input[-1].text.split()[-1].rstrip("?")
    output = ModelOutput.from_content("mockllm/model", ANSWERS[country])
    output.usage = ModelUsage(
        input_tokens=9, output_tokens=2, input_tokens_cache_read=3, total_tokens=14, total_cost=0.0001
    )
    return output


@solver
def moody():
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if state.sample_id == "broken":
            raise RuntimeError("the tool is gone")
        return state

    return solve


@scorer(metrics=[mean()])
def brevity():
    async def score(state: TaskState, target: Target) -> Score:
        return Score(value=1 / (1 + len(state.output.completion)), explanation="shorter is better")

    return score


@scorer(metrics={"*": [mean()]})
def facets():
    async def score(state: TaskState, target: Target) -> Score:
        if state.sample_id == "long":
            return Score.unscored(reason="grader_failed", explanation="no verdict")
        return Score(value={"polite": True, "grade": "P", "stars": 4, "tone": "dry"}, metadata={"by": "rule"})

    return score


def main(out: Path) -> None:
    model = get_model("mockllm/model", custom_outputs=answer)
    samples = [
        Sample(id="france", input="The capital of France?", target="Paris"),
        Sample(id="italy", input="The capital of Italy?", target="Rome"),
        Sample(input="The capital of Spain?", target="Madrid"),
        Sample(id="broken", input="The capital of Nowhere?", target="None"),
        Sample(id="long", input=LONG + "The capital of Germany?", target="Berlin"),
    ]
    task = Task(
        name="capitals",
        dataset=samples,
        solver=[moody(), generate()],
        scorer=[match(), brevity(), facets()],
        epochs=2,
        metadata={"scales": {"facets.stars": [1, 5]}},
    )
    for kind in ("eval", "json"):
        folder = out / f"inspect-{kind}"
        shutil.rmtree(folder, ignore_errors=True)
        run_eval(
            task, model=model, log_dir=str(folder), log_format=kind, fail_on_error=False, max_samples=1, display="none"
        )
        shutil.move(next(folder.glob(f"*.{kind}")), out / f"inspect.{kind}")
        shutil.rmtree(folder)


main(Path(sys.argv[1]))
