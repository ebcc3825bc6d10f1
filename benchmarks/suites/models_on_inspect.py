"""The same suite on inspect_ai: its generate and model_graded_qa, display off, its log where it always is."""
# mypy: disable-error-code="import-not-found,misc,untyped-decorator"

import time

from inspect_ai import Task, eval  # noqa: A004
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import model_graded_qa
from inspect_ai.solver import generate
from load import CASES, CONCURRENCY, tell
from models_load import CRITERIA, MODEL, question

task = Task(
    dataset=MemoryDataset([Sample(input=question(number), target=CRITERIA) for number in range(CASES)]),
    solver=generate(),
    scorer=model_graded_qa(model=f"openai/{MODEL}"),
)
started = time.perf_counter()
(log,) = eval(
    task,
    model=f"openai/{MODEL}",
    display="none",
    max_samples=CONCURRENCY,
    max_connections=CONCURRENCY,
    temperature=0,
    fail_on_error=True,
)
seconds = time.perf_counter() - started
tell(seconds, sum(score.scored_samples or 0 for score in (log.results.scores if log.results else ())))
