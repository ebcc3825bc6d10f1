"""The same suite on pydantic-evals, progress bar off, nothing written to disk."""
# mypy: disable-error-code="import-not-found,misc,untyped-decorator"

import asyncio
import time

from load import CASES, CONCURRENCY, PAUSE_SECONDS, SYNC_SCORERS, tell
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import Evaluator, EvaluatorContext


class First(Evaluator[str, str, None]):
    """A plain scorer, asynchronous."""

    async def evaluate(self, ctx: EvaluatorContext[str, str, None]) -> float:
        """Score 1 where the output is the input."""
        return float(ctx.output == ctx.inputs)


class Second(Evaluator[str, str, None]):
    """A plain scorer, asynchronous."""

    async def evaluate(self, ctx: EvaluatorContext[str, str, None]) -> float:
        """Score 1 where the output is the input."""
        return float(ctx.output == ctx.inputs)


class FirstSync(Evaluator[str, str, None]):
    """A plain scorer, synchronous."""

    def evaluate(self, ctx: EvaluatorContext[str, str, None]) -> float:
        """Score 1 where the output is the input."""
        return float(ctx.output == ctx.inputs)


class SecondSync(Evaluator[str, str, None]):
    """A plain scorer, synchronous."""

    def evaluate(self, ctx: EvaluatorContext[str, str, None]) -> float:
        """Score 1 where the output is the input."""
        return float(ctx.output == ctx.inputs)


async def target(inputs: str) -> str:
    """Return the input as the output, after the pause asked for."""
    if PAUSE_SECONDS:
        await asyncio.sleep(PAUSE_SECONDS)
    return inputs


dataset = Dataset(
    name="bench",
    cases=[Case(name=f"case {number}", inputs=f"case {number}") for number in range(CASES)],
    evaluators=[FirstSync(), SecondSync()] if SYNC_SCORERS else [First(), Second()],
)
started = time.perf_counter()
report = dataset.evaluate_sync(target, max_concurrency=CONCURRENCY, progress=False)
seconds = time.perf_counter() - started
tell(seconds, sum(len(case.scores) for case in report.cases))
