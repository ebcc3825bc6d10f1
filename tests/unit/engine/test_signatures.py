"""What parameters a function has."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from scoregate.engine.signatures import read_parameters


def test_parameters_come_in_order() -> None:
    def answer(question: str, *, tries: int = 1) -> str:
        return question * tries

    assert [each.name for each in read_parameters(answer)] == ["question", "tries"]


@pytest.mark.skipif(sys.version_info < (3, 14), reason="before Python 3.14 such a function cannot be defined")
def test_annotations_may_name_what_only_type_checkers_import() -> None:
    made: dict[str, Any] = {}
    exec(compile("def answer(question: Unknown) -> Unknown: ...", "<test>", "exec", dont_inherit=True), made)
    assert [each.name for each in read_parameters(made["answer"])] == ["question"]
