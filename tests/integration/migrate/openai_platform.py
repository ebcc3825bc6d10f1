"""OpenAI's /evals API with one eval, as the official client reads it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from openai.types import EvalRetrieveResponse
from openai.types.evals import RunListResponse
from openai.types.evals.runs import OutputItemListResponse
from tests.integration.migrate.loopback import serve

EVAL, RUN = "eval_68f1", "evalrun_77a2"
_ROWS = [
    ("Where is order 1042?", "1042", "Order 1042 is on its way.", "Order 1042 is on its way to you.", "polite", 7),
    ("How long can I return jacket 30?", "30", "30 days, with the receipt.", "You have 30 days.", "neutral", 3),
    ("Is item 7 in stock?", "7", "Item 7 is in stock.", "Yes, item 7 is in stock.", "polite", 6),
]  # question, number, expected, output, label, completeness
# What the platform's fuzzy match gave: which differs from scoregate's, as its preprocessing isn't known.
_SIMILARITY = (0.9, 0.5, 0.8)


@contextmanager
def open_platform(definition: dict[str, Any]) -> Iterator[str]:
    """Serve this definition and a finished run of it, at the address that is given."""
    answers = {
        f"/evals/{EVAL}": _definition(definition),
        f"/evals/{EVAL}/runs": _page([_run()]),
        f"/evals/{EVAL}/runs/{RUN}/output_items": _page([_item(number) for number in range(len(_ROWS))]),
    }

    with serve(lambda path, _: answers[path.removeprefix("/v1")]) as address:
        yield f"{address}/v1"


def _definition(given: dict[str, Any]) -> dict[str, Any]:
    """The definition as the API gives it; the client's own type validates it."""
    config = {"type": "custom", "schema": {"type": "object", "properties": {}}}
    document = {
        "id": EVAL,
        "object": "eval",
        "created_at": 1760000000,
        "data_source_config": config,
        "metadata": {},
        **given,
    }
    return EvalRetrieveResponse.model_validate(document).to_dict()


def _run() -> dict[str, Any]:
    source = {"type": "completions", "source": {"type": "file_id", "id": "file-1"}}
    run = {
        "id": RUN, "object": "eval.run", "eval_id": EVAL, "created_at": 1760000001, "name": "nightly",
        "status": "completed", "model": "gpt-4o", "report_url": "https://example.com", "data_source": source,
        "error": {"code": "", "message": ""}, "metadata": {}, "per_model_usage": [], "per_testing_criteria_results": [],
        "result_counts": {"errored": 0, "failed": 1, "passed": 2, "total": 3},
    }  # fmt: skip
    return RunListResponse.model_validate(run).to_dict()


def _item(number: int) -> dict[str, Any]:
    question, identifier, expected, output, label, completeness = _ROWS[number]
    scores = {
        "names the number": 1.0, "similarity": _SIMILARITY[number], "politeness": float(label != "rude"),
        "completeness": float(completeness), "short": 1.0,
    }  # fmt: skip
    passing = {**dict.fromkeys(scores, True), "completeness": completeness >= 5}
    sample = {
        "error": {"code": "", "message": ""}, "finish_reason": "stop", "max_completion_tokens": 2048, "model": "gpt-4o",
        "input": [{"role": "user", "content": question}], "output": [{"role": "assistant", "content": output}],
        "seed": 42, "temperature": 1.0, "top_p": 1.0,
        "usage": {"cached_tokens": 0, "completion_tokens": 9, "prompt_tokens": 20, "total_tokens": 29},
    }  # fmt: skip
    results = [
        {"name": f"{name}-{number}b2c3", "type": "grader", "passed": passing[name], "score": score, "sample": None}
        for name, score in scores.items()
    ]
    item = {
        "id": f"outputitem_{number}", "object": "eval.run.output_item", "created_at": 1760000002, "eval_id": EVAL,
        "run_id": RUN, "datasource_item_id": number, "status": "pass" if all(passing.values()) else "fail",
        "datasource_item": {"question": question, "number": identifier, "expected": expected},
        "results": results, "sample": sample,
    }  # fmt: skip
    return OutputItemListResponse.model_validate(item).to_dict()


def _page(data: list[dict[str, Any]]) -> dict[str, Any]:
    return {"object": "list", "data": data, "first_id": data[0]["id"], "last_id": data[-1]["id"], "has_more": False}
