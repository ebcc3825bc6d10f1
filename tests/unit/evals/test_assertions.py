"""Assertions of a case: how several of them become one score."""

from __future__ import annotations

import pytest
from tests.fakes.media import RED

from scoregate import Media
from scoregate.evals.prompts import Prompt, find_unknown_parts
from scoregate.kernel.types.evaluation import Evaluation, Threshold
from scoregate.scorers import assertion, weighted_assertions
from scoregate.scorers.assertions import TYPES


def evaluate(*assertions: dict[str, object], output: object = "hello") -> Evaluation:
    listed = [{"metric": "m", **each} for each in assertions]
    found = assertion("m")(output, listed)
    assert found is not None
    return found


def test_all_required_assertions_must_pass() -> None:
    result = evaluate({"type": "contains", "value": "ell"}, {"type": "equals", "value": "x", "weight": 3})
    assert (result.score, result.threshold) == (0.25, Threshold(gte=1))
    assert result.metadata == {"reason": "equals x"}


def test_an_assertion_without_weight_is_only_scored() -> None:
    result = evaluate({"type": "equals", "value": "x", "weight": 0})
    assert (result.score, result.threshold) == (0.0, None)
    result = evaluate({"type": "equals", "value": "x", "weight": 0}, {"type": "contains", "value": "ell"})
    assert result.score == 1.0


def test_an_image_is_an_error_of_each_assertion_of_texts() -> None:
    values: dict[str, object] = {"is-json": None, "contains-json": None, "any-of": [{"type": "equals", "value": "x"}]}
    for kind in TYPES.keys() - {"latency"}:
        for prefix in ("", "not-"):
            each = {"type": prefix + kind, "value": values.get(kind, "x"), "threshold": 1}
            with pytest.raises(ValueError, match="the output has an image"):
                evaluate(each, output={"a": Media.from_bytes(RED)})
    with pytest.raises(ValueError, match="the output has an image"):
        evaluate({"type": "not-equals", "value": {"a": 1}}, output=Media.from_bytes(RED))


def test_a_case_without_the_metric_has_no_score() -> None:
    assert assertion("other")("hello", [{"type": "is-json", "metric": "m"}]) is None
    assert assertion("other")("hello", None) is None


def test_an_unknown_type_is_an_error() -> None:
    with pytest.raises(ValueError, match="no assertion of the type 'javascript'"):
        evaluate({"type": "javascript", "value": "true"})
    with pytest.raises(ValueError, match="must be a list of assertions"):
        assertion("m")("hello", "hello")


def test_the_mean_passes_at_the_threshold_of_the_case() -> None:
    listed = [
        {"type": "contains", "value": "ell", "weight": 0.1, "required": False},
        {"type": "equals", "value": "x", "weight": 0.3, "required": False},
        {"type": "threshold", "value": 0.25},
    ]
    found = weighted_assertions()("hello", listed)
    assert found is not None
    assert (found.score, found.threshold) == (pytest.approx(0.25), Threshold(gte=0.25))
    assert weighted_assertions()("hello", listed[:2]) is None


def test_outputs_that_are_no_texts_are_json() -> None:
    assert evaluate({"type": "equals", "value": {"a": [1, True]}}, output={"a": [1.0, True]}).score == 1.0
    assert evaluate({"type": "equals", "value": {"a": [1, True]}}, output={"a": [1, 1]}).score == 0.0
    assert evaluate({"type": "contains-json", "value": {"required": ["b"]}}, output='{"a": 1} {"b": 2}').score == 1.0


def test_many_brackets_are_fast() -> None:
    assert evaluate({"type": "contains-json"}, output="{" * 1_000_000).score == 0.0


def test_a_prompt_of_messages_renders_each_text() -> None:
    prompt = Prompt('[{"role": "user", "content": "Say {{ word }}"}]')
    assert prompt.render({"word": 'a "quote"'}) == [{"role": "user", "content": 'Say a "quote"'}]
    assert Prompt("{{ a }} {{ b.c }}{{ d }}").render({"a": [1, "x"], "b": {"c": True}}) == "1,x true"


def test_incompatible_parts_of_nunjucks_are_found() -> None:
    assert find_unknown_parts("{% for x in xs %}{{ x | upper }}{% endfor %}") == []
    for text in ("{{ x | nl2br }}", "{{ range(9) }}", "{% include 'x' %}", "{{ env.KEY }}", "{% if %}"):
        assert find_unknown_parts(text), text
