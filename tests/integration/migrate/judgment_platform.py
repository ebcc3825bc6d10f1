"""The part of Judgment's platform that an evaluation with code judges uses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.integration.migrate.loopback import serve


@contextmanager
def open_platform() -> Iterator[str]:
    """Serve a project that takes the results of evaluations and gives them back, at the address that is given."""
    runs: dict[str, list[dict[str, Any]]] = {}

    def answer(path: str, posted: Any) -> object:
        if path.endswith("/projects/resolve"):
            return {"project_id": "project"}
        if posted is None:
            return {"results": runs[path.rpartition("/")[2]], "ui_results_url": "https://example.com/run"}
        runs[posted["run"]["id"]] = [_item(result) for result in posted["results"]]
        return {}

    with serve(answer) as address:
        yield address


def _item(result: dict[str, Any]) -> dict[str, Any]:
    """A posted result, as the platform gives it back."""
    scorers = [
        {"judge_name": each["scorer_name"], "score_type": "binary", "bool_value": each["value"], "error": each["error"]}
        for each in result["scorers_data"]
    ]
    return {"example_id": result["data_object"]["example_id"], "data": result["data_object"], "scorers": scorers}
