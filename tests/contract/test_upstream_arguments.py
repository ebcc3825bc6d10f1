"""The migration pages promise the arguments of other SDKs: `upstream_arguments.json` has them."""

from __future__ import annotations

import inspect
import json
from importlib import import_module
from pathlib import Path

import pytest

ARGUMENTS: dict[str, dict[str, list[str]]] = json.loads(
    (Path(__file__).parent.parent / "data" / "upstream_arguments.json").read_text()
)


@pytest.mark.parametrize("package", ARGUMENTS)
def test_methods_take_the_arguments_of_the_package(package: str) -> None:
    refused = []
    for path, names in ARGUMENTS[package].items():
        module, _, attributes = path.partition(":")
        owner, _, method = attributes.partition(".")
        parameters = inspect.signature(getattr(getattr(import_module(module), owner), method)).parameters
        refused += [f"{attributes}({name}=)" for name in names if name not in parameters]
    assert refused == []
