"""Code judges: valid classes, valid responses, and versions that follow the code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pydantic import ValidationError
from tests.integration.judges.grading import grade, to_subject
from tests.unit.judges import graders

from scoregate.errors import JudgmentConflictError, JudgmentValidationError
from scoregate.judges import (
    BinaryResponse,
    CategoricalResponse,
    Category,
    Judge,
    JudgeResult,
    JudgesFactory,
    NumericResponse,
    unstored_version,
)
from scoregate.kernel.types.evaluation import Evaluation, Label

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def result(judge: Any, **fields: Any) -> JudgeResult:
    return await grade(unstored_version(judge), to_subject(fields, fields))


async def test_each_kind_has_a_value_and_a_score_from_0_to_1() -> None:
    short = await result(graders.Short, output="brief")
    assert (short.grade.value, short.grade.score, short.grade.reason) == ("Yes", 1.0, "counted")
    assert (short.judge.version, short.error) == ("", None)
    assert (await result(graders.Short, output="x" * 20)).grade.value == "No"
    stars = await result(graders.Starred, stars=4)
    assert (stars.judge.name, stars.judge.scale) == ("stars", (1.0, 5.0))
    assert (stars.grade.value, stars.grade.score) == (4.0, 0.75)
    evaluation = stars.grade.evaluation()
    assert isinstance(evaluation, Evaluation)
    assert evaluation.metadata == {
        "judge": "stars", "version": "", "value": 4.0, "reason": "", "scale": [1.0, 5.0],
        "citations": [{"span_id": "a1", "span_attribute": "output"}],
    }  # fmt: skip
    kind, odd = await result(graders.Toned, tone="kind"), await result(graders.Toned(), tone="odd")
    assert (kind.grade.value, kind.grade.score) == ("kind", 1.0)
    assert (odd.grade.value, odd.grade.score) == ("odd", None)
    assert odd.grade.evaluation() == Label("odd", odd.grade.metadata())


@pytest.mark.parametrize(
    ("judge", "fields", "message"),
    [
        (graders.Broken, {}, "'missing'"),
        (graders.Broken, {"returns": True}, "must return a NumericResponse, not bool: True"),
        (graders.Broken, {"returns": BinaryResponse(value=True)}, "not BinaryResponse"),
        (graders.Starred, {"stars": 6}, "the value must lie in [1, 5], not 6.0"),
        (graders.Starred, {"stars": "nan"}, "finite"),
        (graders.Toned, {"tone": "rude"}, "the value must be one of ['kind', 'odd'], not 'rude'"),
    ],
)
async def test_errors_are_data_and_never_a_score(judge: Any, fields: dict[str, Any], message: str) -> None:
    returned = await result(judge, **fields)
    assert (returned.grade.value, returned.grade.score) == (None, None)
    assert returned.error is not None
    assert message in returned.error.message


def wrong_response() -> None:
    class Wrong(Judge[int]):  # type: ignore[type-var]
        def score(self, data: Any) -> Any: ...


def bare_categories() -> None:
    class Bare(Judge[CategoricalResponse]):
        def score(self, data: Any) -> Any: ...


def no_categories() -> None:
    class Empty(CategoricalResponse): ...


def two_of_one_name() -> None:
    class Twice(CategoricalResponse):
        categories: ClassVar[list[Category]] = [Category(value="a"), Category(value="a")]


def inverted() -> None:
    class Inverted(NumericResponse):
        min_score: ClassVar[float] = 2


@pytest.mark.parametrize("define", [wrong_response, bare_categories, no_categories, two_of_one_name, inverted])
def test_an_invalid_class_is_refused_at_definition(define: Callable[[], None]) -> None:
    with pytest.raises(TypeError):
        define()


@pytest.mark.parametrize("value", ["Yes", 1, None])
def test_a_binary_value_is_a_bool(value: Any) -> None:
    with pytest.raises(ValidationError):
        BinaryResponse(value=value)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Writes the module `my_judges`, and removes the imported one."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def write(body: str) -> None:
        (tmp_path / "my_judges.py").write_text(
            "from scoregate.judges import BinaryResponse, Judge\n\nclass Short(Judge[BinaryResponse]):\n"
            f"    def score(self, data):\n        {body}\n"
        )
        sys.modules.pop("my_judges", None)
        from scoregate.engine.fingerprint import clear_source_cache

        clear_source_cache()

    return write


async def test_changed_code_becomes_the_next_version_at_use(
    judges: JudgesFactory, module: Callable[[str], None]
) -> None:
    module("return BinaryResponse(value=len(data['output']) < 20)")
    first = judges.register("my_judges:Short")
    assert (first.label, first.judge_type, first.score_type) == ("Short 0.0", "code", "binary")
    assert judges.register("my_judges:Short").version == "0.0"
    module("return BinaryResponse(value=len(data['output']) < 20)  # the same")
    assert judges.resolve(["Short"])[0].version == "0.0"
    module("return BinaryResponse(value=len(data['output']) < 10)")
    (now,) = judges.resolve(["Short"])
    assert now.version == "0.1"
    assert (await grade(now, to_subject({"output": "x" * 15}))).grade.value == "No"
    judges.tag("Short", version="0.0")
    with pytest.raises(JudgmentValidationError, match=r"Judge 'Short' 0\.0 is code that has changed since"):
        judges.resolve(["Short"])
    assert [each.version for each in judges.list()] == ["0.0"], "what only shows judges runs no code of theirs"


def test_an_instance_is_used_in_this_process(judges: JudgesFactory) -> None:
    class Local(Judge[BinaryResponse]):
        def __init__(self, limit: int, model: str = "small") -> None:
            self.limit, self.model = limit, model

        def score(self, data: Any) -> BinaryResponse:
            return BinaryResponse(value=len(data["output"]) < self.limit)

    judge = Local(3)
    assert judges.register(judge, "local").code is judge
    assert judges.resolve(["local"])[0].code is judge
    assert judges.register(Local(4), "local").version == "0.1"
    assert judges.register(Local(4, "large"), "local").version == "0.2"


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("nothing", "not written as module:name"),
        ("no.such.module:X", "cannot be loaded: ModuleNotFoundError"),
        ("json:loads", "a subclass of Judge or an instance"),
        ("json:nope", "cannot be loaded: AttributeError"),
        ("scoregate.judges:Judge", "cannot be loaded: TypeError"),
    ],
)
def test_other_objects_are_refused(judges: JudgesFactory, target: str, message: str) -> None:
    with pytest.raises(JudgmentValidationError) as exc_info:
        judges.register(target)
    assert message in str(exc_info.value)
    assert judges.list() == []


def test_the_name_of_a_prompt_judge_is_refused(judges: JudgesFactory) -> None:
    judges.create("Short", "x")
    with pytest.raises(JudgmentConflictError, match="there is a prompt judge 'Short' already"):
        judges.register(graders.Short)
    assert judges.resolve(["Short"])[0].judge_type == "prompt"
