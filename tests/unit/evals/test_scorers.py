"""The scorers of `scoregate.scorers`: what passes, the reason of what fails, and their settings in a suite."""

from __future__ import annotations

import re
import sys
from typing import Any

import pytest
from tests.fakes.media import BEEP, GREEN, RED

from scoregate import Media, evaluate
from scoregate.errors import MissingExtra
from scoregate.kernel.types.evaluation import Evaluation, Threshold
from scoregate.scorers import (
    Check,
    contains,
    contains_all,
    contains_any,
    equals,
    json_equals,
    json_schema,
    json_valid,
    latency,
    length,
    levenshtein,
    numeric_close,
    pii_free,
    regex,
    rouge_l,
    scorer,
    similarity,
)

SCHEMA = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
ORDER = {"id": 1, "items": [{"price": 2.0, "key": "a"}, {"price": 3, "key": "b"}]}
# A check, an output, the expected output, and the reason of a failure; None if the output passes.
YES_NO: list[tuple[Check, Any, Any, str | None]] = [
    (equals(), "a ", "a", None),
    (equals(strip=False), "a ", "a", "expected a"),
    (equals(ignore_case=True), "A", "a", None),
    (equals("b"), "a", "a", "expected b"),
    (equals(), {"a": [1]}, {"a": [1]}, None),
    (equals(), {"a": 1, "b": {"c": [1, 2]}}, {"a": 1, "b": {"c": [1, 3]}}, "b.c.1 is 2, expected 3"),
    (equals(), [Threshold(gte=1)], [Threshold(gte=2), 3], "0.gte is 1.0, expected 2.0; 1 is missing"),
    (equals(), {1, 2}, {1, 3}, r"expected \[1,3\]"),
    (equals(), {"a": 1}, ["a"], r'expected \["a"\]'),
    (equals(), 1, True, None),
    (equals(None), None, "x", None),
    (equals(None), "", None, "expected null"),
    (equals(None), 0, None, "expected null"),
    (equals(None), "null", None, "expected null as NoneType, not as str"),
    (json_equals(None), "null", None, None),
    (json_equals(None), None, None, None),
    (json_equals(None), "{}", None, "null"),
    (equals(), 2, "2", "expected 2 as str, not as int"),
    (contains(), "from 9 to 17", "9", None),
    (contains(), "from 9 to 17", 17, None),
    (contains(), "from 9 to 17", "18", "missing: 18"),
    (contains("NINE", ignore_case=True), "nine", None, None),
    (contains("a", field="b"), {"b": "a"}, None, None),
    (contains("b", field="b"), {"b": "a"}, None, "missing: b"),
    (contains("b", field="$"), {"b": "a"}, None, None),
    (contains_all(), "a b", ["a", "b"], None),
    (contains_all(), "a b", "a", None),
    (contains_all(["a", "c", "d"]), "a b", None, "missing: c, d"),
    (contains_any(["c", "b"]), "a b", None, None),
    (contains_any(), "a b", ["c", "d"], "missing: c, d"),
    (regex(r"\d+"), "from 9", None, None),
    (regex(r"\d+", full=True), "from 9", None, r"no match of \\d\+"),
    (regex("A", flags=re.IGNORECASE), "a", None, None),
    (regex(), "a1", "a.", None),
    (length(max=3), "abc", None, None),
    (length(min=2, max=3), "abcd", None, "4 characters"),
    (length(min=2, unit="words"), "one", None, "1 words"),
    (json_valid(), '{"a": 1}', None, None),
    (json_valid(), {"a": 1}, None, None),
    (json_valid(), "{", None, "the output is not JSON"),
    (json_valid(), "NaN", None, "NaN is not JSON"),
    (json_valid(), {"a": [float("nan")]}, None, "it has the number nan"),
    (json_valid(), "[" * 100_000, None, "the output is not JSON"),
    (json_schema(SCHEMA), '{"n": 1}', None, None),
    (json_schema(SCHEMA), {"n": "1"}, None, r"\$\.n: '1' is not of type 'integer'"),
    (json_schema(SCHEMA), "no", None, "the output is not JSON"),
    (json_schema({"minimum": 0}), float("nan"), None, "it has the number nan"),
    (json_equals(), '{"b": 1, "a": [1, 2]}', {"a": [1, 2], "b": 1}, None),
    (json_equals(), {"a": 1}, '{"a": 1.0}', None),
    (json_equals(), {"a": True}, {"a": 1}, "a is true, expected 1"),
    (json_equals(), {"a": [1], "b": 0}, {"a": [1, 2]}, "a.1 is missing; b is not expected"),
    (
        json_equals(ignore=["id", "items.*.price"]),
        {**ORDER, "id": 2, "items": [{"key": "a"}, {"key": "b"}]},
        ORDER,
        None,
    ),
    (json_equals(ignore=["items.*.key"]), {**ORDER, "id": 2}, ORDER, "id is 2, expected 1"),
    (json_equals(tolerance=0.1), {"a": 1.05}, {"a": 1}, None),
    (json_equals(), "text", {"a": 1}, "the output is not JSON"),
    (json_equals(), {"a": float("nan")}, {"a": None}, "a is nan, expected null"),
    (json_equals(), {"a": None}, {"a": float("nan")}, "a is null, expected nan"),
    (json_equals(ignore=["a"]), {"a": float("inf"), "b": 1}, {"b": 1}, None),
    (numeric_close(), " 3.0 ", 3, None),
    (numeric_close(3, tolerance=0.1), 3.05, None, None),
    (numeric_close(relative=0.01), 101, "100", None),
    (numeric_close(), "about 3", 3, "not a number: about 3"),
    (numeric_close(), 3.1, 3, "3.1, expected 3"),
]


def test_yes_no_scorers_pass_at_one_and_explain_failures() -> None:
    for check, output, expected, reason in YES_NO:
        checked = check(output, expected)
        label = (check.name, output, expected)
        assert checked.threshold == Threshold(gte=1), label
        assert checked.passed is (reason is None), label
        shown = (checked.metadata or {}).get("reason", "")
        assert re.search(reason or "^$", shown), (label, shown)
    assert latency(1)("x", duration_s=0.5).passed
    assert latency(1)("x", duration_s=1.5).metadata == {"reason": "1.5 s"}


def test_an_expected_nan_is_missing() -> None:
    for check, output in ((json_equals(), None), (json_equals(), "null"), (contains(), "nan"), (equals(), "nan")):
        with pytest.raises(ValueError, match="`expected`, which this case lacks"):
            check(output, float("nan"))


def test_similar_texts_have_scores() -> None:
    assert levenshtein()("kitten", "kitten").score == 1
    assert levenshtein()("kitten", "sitting").score == pytest.approx(4 / 7)
    assert levenshtein("")("").score == 1
    assert similarity()("open: from 9", "From 9 open").score == 1
    assert similarity()("closed", "From 9 open").score < 0.5


def test_a_case_without_an_expected_output_is_an_error() -> None:
    for check in (equals(), contains(), contains_all(), regex(), json_equals(), numeric_close(), levenshtein()):
        with pytest.raises(ValueError, match=f"{check.name} compares with `expected`, which this case lacks"):
            check("x")
    for check, expected in ((contains(), ""), (contains_all(), []), (contains(), {"a": 1}), (contains_any(), [None])):
        with pytest.raises(TypeError, match=f"{check.name} needs texts"):
            check("x", expected)
    with pytest.raises(ValueError, match="needs a number"):
        numeric_close()(1, "one")
    for check in (regex(), regex("")):
        with pytest.raises(ValueError, match="regex needs an expression that is not empty"):
            check("x", "")
    assert regex("", full=True)("").score == 1


def test_a_list_for_a_scorer_of_one_text_names_those_for_several() -> None:
    with pytest.raises(TypeError, match=r"contains takes one text, not \['9', '17'\]; use contains_all\(\) or"):
        contains()("from 9 to 17", expected=["9", "17"])


def test_scorers_of_texts_refuse_images_and_recordings() -> None:
    red, green, beep = map(Media.from_bytes, (RED, GREEN, BEEP))
    checks = (contains(), contains_all(["9"]), contains_any(["9"]), regex(r"\d+"), length(max=1000), pii_free())
    for check in (*checks, levenshtein(), similarity(), rouge_l()):
        for output in (red, {"answer": [red]}, red.reference()):
            with pytest.raises(
                ValueError, match=f"the output has an image, and {check.name.split()[0]} compares texts"
            ):
                check(output, "9")
        with pytest.raises(ValueError, match="the output has a recording"):
            check([beep], "9")
    for check in (levenshtein(), similarity(), rouge_l()):
        with pytest.raises(ValueError, match=f"the expected output has an image, and {check.name} compares texts"):
            check("9", {"a": green})
    assert not equals()(red, green).passed
    # A text about media is a text.
    assert contains("sha256")(f'{{"media":"sha256:{"0" * 64}"}}').passed
    assert contains("sha256", field="$")({"media": "sha256:x"}).passed
    result = evaluate("demo", data=[{"input": "q", "expected": "9"}], task=lambda input: red, scorers=[contains()])  # noqa: A006, ARG005
    (error,) = result.cases[0].errors
    assert error.error.message.startswith("the output has an image, and contains compares texts")
    assert not result.passed


def test_json_equality_compares_images_by_their_bytes() -> None:
    red, renamed, green = (
        Media.from_bytes(RED, name="a.png"),
        Media.from_bytes(RED, name="b.png"),
        Media.from_bytes(GREEN),
    )
    for output, expected in (({"a": red}, {"a": renamed}), (red, Media.from_bytes(RED)), ([1, renamed], [1, red])):
        assert json_equals()(output, expected).passed
        assert equals()(output, expected).passed
    assert not json_equals()({"a": red}, {"a": green}).passed
    assert not json_equals()({"a": red}, {"a": {"media": "a.png"}}).passed
    assert not json_equals()({"media": "a"}, {"media": "b"}).passed
    found = json_equals()(red, {**renamed.reference(), "name": 1})
    assert found.metadata == {"reason": "name is a.png, expected 1"}


def test_wrong_arguments_are_refused_at_once() -> None:
    for make, message in (
        (lambda: contains_all("abc"), r"for one text use contains\('abc'\)"),
        (length, "needs `min`, `max` or both"),
        (lambda: length(max=1, unit="lines"), "unit must be"),  # type: ignore[arg-type]
        (lambda: json_schema({"type": "text"}), "the schema is invalid"),
        (lambda: json_equals(ignore="id"), r"must be a list of paths: \['id'\]"),
        (lambda: scorer(5), "must be callable"),  # type: ignore[call-overload]
        (lambda: scorer(len, scale=(5, 1)), "a scale goes from"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            make()
    with pytest.raises(re.error):
        regex("(")


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidfuzz", None)
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    for make in (levenshtein, similarity, lambda: json_schema(SCHEMA)):
        with pytest.raises(MissingExtra, match=r"scoregate\[scorers\]"):
            make()


def run(*scorers: Any, data: Any = ({"input": "a", "expected": "abc"},)) -> Any:
    result = evaluate("demo", data=data, task=lambda input: f"{input}bc", scorers=scorers)  # noqa: A006
    assert [error.message for error in result.errors] == []
    return result


def test_several_scorers_of_one_kind_have_unique_names() -> None:
    result = run(contains("a"), contains("b"), contains(), equals(name="same"), levenshtein(threshold=0.9))
    assert set(result.evaluators) == {"contains a", "contains b", "contains", "same", "levenshtein"}
    assert result.passed


def test_a_fingerprint_depends_on_the_arguments_but_not_on_name_and_threshold() -> None:
    def print_of(check: Any) -> Any:
        (found,) = run(check).evaluators.values()
        return found.fingerprint

    assert print_of(contains("a")) != print_of(contains("b"))
    assert print_of(equals(name="x")) == print_of(equals())
    assert print_of(levenshtein(threshold=0.5)) == print_of(levenshtein())
    assert print_of(levenshtein()) != print_of(similarity())

    def half(output: str) -> float:
        return len(output) / 6

    assert print_of(scorer(half, name="x", threshold=0.5)) == print_of(half)
    assert print_of(scorer(half, scale=(0, 2))) != print_of(half)


def test_a_function_can_have_settings() -> None:
    @scorer(name="words", scale=(0, 10), threshold=4)
    def count_letters(output: str) -> int:
        return len(output)

    @scorer(scale=(0, 10), threshold=4, higher_is_better=False)
    async def short(output: str) -> int:
        return len(output)

    result = run(count_letters, short, scorer(lambda output: 0.4, threshold=Threshold(gt=0.3), name="some"))  # noqa: ARG005
    (case,) = result.cases
    found = {name: (each.score, each.passed) for name, each in case.evaluations.items()}
    assert found == {"words": (0.3, False), "short": (0.3, True), "some": (0.4, True)}
    assert case.evaluations["words"].metadata == {"value": 3.0, "scale": [0.0, 10.0]}
    assert not result.evaluators["short"].higher_is_better
    assert count_letters("four") == 4
    (error,) = next(iter(evaluate("x", data=["a"], task=str, scorers=scorer(lambda: 11, scale=(0, 10))).cases)).errors
    message = error.error.message
    assert message.startswith("the score 11 is outside of its scale, 0 to 10 (")
    assert re.search(r"test_scorers\.py:\d+\)$", message)


def test_the_attribute_threshold_of_a_users_object_decides_about_numbers() -> None:
    class Share:
        def __init__(self, threshold: object, result: object = 0.5) -> None:
            self.threshold, self.result, self.name = threshold, result, f"{threshold!r} {result}"[:20]

        def __call__(self, output: str) -> object:  # noqa: ARG002
            return self.result

    own = Evaluation(0.5, Threshold(lt=0.6))
    given = [Share(0.6), Share(0.4), Share(0), Share(80), Share(True), Share("0.6"), Share(0.9, own), Share(0.4, False)]
    scaled = [
        scorer(Share(60, 50), name="scaled", scale=(0, 100)),
        scorer(Share(0.4), name="lower", higher_is_better=False),
        scorer(Share(0.9), name="named", threshold=0.5),
    ]
    (case,) = run(*given, *scaled).cases
    passed = [case.evaluations[each.name].passed for each in [*given, *scaled]]
    assert passed == [False, True, None, None, None, None, True, False, False, False, True]


def test_mistakes_in_scorers_are_named() -> None:
    for given, problem in (
        (
            scorer(len, threshold=80),
            "(len): its threshold 80 is outside of 0 to 1; scores of another range need a scale",
        ),
        (scorer(len, scale=(0, 10), threshold=Threshold(lte=11)), "(len): its threshold 11 is outside of 0 to 10"),
        (contains, "(contains): it is the function that makes a scorer; call it: contains()"),
    ):
        result = evaluate("x", data=["a"], task=str, scorers=[given])
        assert any(problem in error.message for error in result.errors), problem


def test_every_public_name_is_found_each_time() -> None:
    import scoregate.scorers as package

    for _ in range(2):
        assert [name for name in package.__all__ if not callable(getattr(package, name))] == []
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        package.nothing  # noqa: B018
