"""Workflows in the documentation: valid for GitHub, with inputs and outputs that the action has."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import yaml
from check_jsonschema.builtin_schemas import get_builtin_schema

ACTION: dict[str, Any] = yaml.safe_load((Path(__file__).parents[2] / "action.yml").read_text(encoding="utf-8"))
_STEPS = "on: pull_request\njobs:\n  evals:\n    runs-on: ubuntu-latest\n    steps:\n"


def check_workflow(place: str, text: str) -> None:
    """Check a workflow, its jobs alone, or a list of steps."""
    code = re.sub(r"\A(#[^\n]*\n|\s*\n)*", "", text)
    if code.startswith("- "):
        text = _STEPS + textwrap.indent(text, " " * 6)
    elif code.startswith("jobs:"):
        text = f"on: pull_request\n{text}"
    # YAML 1.1 reads `on` as true; JSON has only texts as keys.
    workflow = {"on" if key is True else key: value for key, value in yaml.safe_load(text).items()}
    schema = get_builtin_schema("vendor.github-workflows")
    try:
        jsonschema.validate(json.loads(json.dumps(workflow, default=str)), schema)
    except jsonschema.ValidationError as error:
        raise AssertionError(f"{place}: {error.message}") from None
    for step in _steps(workflow):
        if re.match(r"scoregate/scoregate(/composite)?@", step.get("uses", "")):
            unknown = set(step.get("with", {})) - set(ACTION["inputs"])
            assert not unknown, f"{place}: the action has no input {unknown}"
            used = set(re.findall(rf"steps\.{step.get('id', 'evals')}\.outputs\.([\w-]+)", text))
            assert used <= set(ACTION["outputs"]), f"{place}: the action has no output {used - set(ACTION['outputs'])}"


def _steps(workflow: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for job in workflow["jobs"].values():
        yield from job.get("steps", [])
