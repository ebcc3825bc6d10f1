"""`rouge_l` and `bleu`: the scores of rouge-score 0.1.2 and sacrebleu, and texts that have none."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from scoregate import evaluate
from scoregate.errors import MissingExtra
from scoregate.scorers import bleu, levenshtein, rouge_l, similarity

# Two texts, and what rouge-score 0.1.2 without stemming computes for them as F1.
ROUGE = (
    ("the cat sat on the mat", "the cat is on the mat", 0.8333333333333334),
    ("a b c d", "a c b d", 0.75),
    ("Hello, World!", "hello world", 1),
    ("", "abc", 0),
    ("abc", "", 0),
    ("x y", "a b", 0),
    ("We open at nine.", "At nine we open.", 0.5),
    ("It's 9 o'clock", "it s 9 o clock", 1),
    ("one_two three four five", "one three five", 0.75),
    ("the the the", "the", 0.5),
)
# Two texts, and what sacrebleu computes for them with effective order.
BLEU = (
    ("the cat sat on the mat", "the cat is on the mat", 37.99178428257963),
    ("a b c d", "a c b d", 22.59005009024613),
    ("Hello, World!", "hello world", 0),
    ("", "abc", 0),
    ("abc", "", 0),
    ("We open at nine.", "At nine we open.", 14.058533129758727),
    ("the the the", "the", 27.516060407455225),
)


def test_rouge_l_has_the_scores_of_rouge_score() -> None:
    for output, expected, score in ROUGE:
        found = rouge_l()(output, expected)
        assert found.score == pytest.approx(score), (output, expected)
        assert found.passed is None
    assert rouge_l()("the cat sat", "the cat").metadata == {"precision": 2 / 3, "recall": 1}
    assert rouge_l("the cat", threshold=0.7)("the cat sat").score == 0.8


def test_rouge_l_counts_letters_of_every_language() -> None:
    assert rouge_l()("Größe M", "größe m").score == 1
    assert rouge_l()("Größe M", "Grö M").score == 0.5
    assert rouge_l()("今天天气好", "今天天气不好").score == pytest.approx(10 / 11)
    assert rouge_l()("...", "!").score == 1
    assert rouge_l(field="a")({"a": "cat"}, "cat").score == 1


def test_bleu_has_the_scores_of_sacrebleu() -> None:
    metrics = pytest.importorskip("sacrebleu.metrics")
    for output, expected, score in BLEU:
        real = metrics.BLEU(effective_order=True).sentence_score(output, [expected]).score
        assert (real, bleu()(output, expected).score) == pytest.approx((score, score / 100)), (output, expected)
    assert bleu()("a cat", "a cat").score == 1
    assert bleu(tokenize="char")("今天", "今天天").score == pytest.approx(0.6065306597126334)
    with pytest.raises(ValueError, match="tokenize must be"):
        bleu(tokenize="words")


def test_texts_that_are_too_long_are_an_error_and_never_a_score() -> None:
    long = "a " * 5_000_000
    for check in (rouge_l(), levenshtein(), similarity()):
        with pytest.raises(ValueError, match=f"{check.name} takes texts of up to [0-9,]+ characters"):
            check(long, "a")
        with pytest.raises(ValueError, match=f"{check.name} takes texts of up to"):
            check("a", long)
    with pytest.raises(ValueError, match="up to 20,000 words"):
        rouge_l()("a " * 20_001, "a")
    result = evaluate("demo", data=[{"input": "x", "expected": "a"}], task=lambda: long, scorers=rouge_l())
    assert [case.status for case in result.cases] == ["errored"]


def test_without_an_expected_text_there_is_no_score() -> None:
    with pytest.raises(ValueError, match="rouge_l compares with `expected`, which this case lacks"):
        rouge_l()("x")


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(make: Any, extra: str) -> None:
        with pytest.raises(MissingExtra, match=rf"scoregate\[{extra}\]"):
            make()

    monkeypatch.setitem(sys.modules, "rapidfuzz", None)
    fails(rouge_l, "scorers")
    monkeypatch.setattr(
        "scoregate.scorers.overlap._make_metric", sys.modules["scoregate.scorers.overlap"]._make_metric.__wrapped__
    )
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics", None)
    fails(bleu, "text")
