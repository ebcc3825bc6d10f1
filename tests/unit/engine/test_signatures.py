"""The parameters of a function."""

from __future__ import annotations

import linecache
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from scoregate.engine.signatures import find_lambda_text, read_parameters


def test_parameters_come_in_order() -> None:
    def answer(question: str, *, tries: int = 1) -> str:
        return question * tries

    assert [each.name for each in read_parameters(answer)] == ["question", "tries"]


@pytest.mark.skipif(sys.version_info < (3, 14), reason="before Python 3.14 such a function cannot be defined")
def test_annotations_can_name_type_checking_imports() -> None:
    made: dict[str, Any] = {}
    exec(compile("def answer(question: Unknown) -> Unknown: ...", "<test>", "exec", dont_inherit=True), made)
    assert [each.name for each in read_parameters(made["answer"])] == ["question"]


def test_a_lambda_in_a_notebook_cell_has_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    cell, name = "short = lambda output: len(output) < 9\n", "/tmp/ipykernel_1/2.py"
    notebook = ModuleType("notebook")  # without a file
    monkeypatch.setitem(sys.modules, "notebook", notebook)
    monkeypatch.setitem(linecache.cache, name, (len(cell), None, [cell], name))
    exec(compile(cell, name, "exec"), vars(notebook))
    assert find_lambda_text(notebook.short) == "len(output) < 9"
    monkeypatch.delitem(linecache.cache, name)
    assert find_lambda_text(notebook.short) == "lambda"


LAYOUTS = {
    'len(output) < 9 and "a" in output': (
        "lambda output: len(output)<9 and 'a' in output",
        "lambda output : len(output) < 9 and 'a' in output",
        'lambda output: (len( output ) < 9) and ("a" in output)',
        "(lambda output: (\n    len(output)  # short\n    < 9\n    and 'a' in output\n))",
    ),
    "output in ('\"', 'a')": ("lambda output: output in ('\"','a')", 'lambda output: output in ("\\"", "a",)'),
    "output != '\\n'": ("lambda output: output!='\\n'", 'lambda output: output != "\\n"'),
}


@pytest.mark.parametrize("text", LAYOUTS)
def test_the_text_of_a_lambda_does_not_depend_on_its_layout(tmp_path: Path, text: str) -> None:
    for number, source in enumerate(LAYOUTS[text]):
        path = tmp_path / f"layout_{number}.py"
        path.write_text(f"check = {source}\n", encoding="utf-8")
        spec = spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules[path.stem] = module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
            assert find_lambda_text(module.check) == text, source
        finally:
            del sys.modules[path.stem]
