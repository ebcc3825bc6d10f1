"""Scorers of shared words: `rouge_l` and `bleu`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from scoregate.kernel.types.evaluation import Evaluation, Threshold
from scoregate.scorers.check import Check, Values, check_length, import_extra
from scoregate.scorers.output_texts import add_field

_MOST_CHARACTERS = 200_000
# The time for a comparison is a product of the lengths: 0.1 s for two texts of this many words.
_MOST_WORDS = 20_000
# Chinese and Japanese are written without spaces, so each of their characters counts as a word.
_NO_SPACES = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_WORD = re.compile(rf"[{_NO_SPACES}]|[^\W_{_NO_SPACES}]+")


def rouge_l(
    expected: str | None = None,
    *,
    threshold: Threshold | float | None = None,
    field: str | None = None,
    name: str | None = None,
) -> Check:
    """Scores the longest sequence of words that both texts have in the same order, with any words between them.

    It is the F1 score of rouge-L, without stemming. Upper case and punctuation don't count. For English texts, the
    scores are those of the package rouge-score. Letters of other languages count, too. Two texts without words score 1.

    Args:
        expected: what to compare with; default: the case's `expected`.
        threshold: the score at or above which a case passes; default: the score is only compared.
        field: the path of the text in outputs that are objects, such as "answer" or "messages.-1.content"; "$" is their
            JSON. Default: the output is the text.
        name: the scorer's name; default: "rouge_l".

    Raises:
        MissingExtra: rapidfuzz is not installed.

    Source: Lin (2004), A Package for Automatic Evaluation of Summaries.
    """
    _import_rapidfuzz()
    return Check(name or "rouge_l", _measure_rouge, add_field({"expected": expected}, field, "rouge_l"), threshold)


def bleu(
    expected: str | None = None,
    *,
    tokenize: str = "13a",
    threshold: Threshold | float | None = None,
    field: str | None = None,
    name: str | None = None,
) -> Check:
    """Scores how many sequences of up to four words of the output the expected output has, too.

    It is the sentence BLEU of the package sacrebleu with effective order, divided by 100. The mean over all cases is
    not the BLEU of a corpus. Two equal texts score 1.

    Args:
        expected: what to compare with; default: the case's `expected`.
        tokenize: how sacrebleu finds words: "13a", "intl", "char" or "zh".
        threshold: the score at or above which a case passes; default: the score is only compared.
        field: the path of the text in outputs that are objects, such as "answer" or "messages.-1.content"; "$" is their
            JSON. Default: the output is the text.
        name: the scorer's name; default: "bleu".

    Raises:
        MissingExtra: sacrebleu is not installed.
        ValueError: there is no such way to find words.

    Source: Papineni et al. (2002), BLEU: a Method for Automatic Evaluation of Machine Translation; Post (2018), A Call
        for Clarity in Reporting BLEU Scores.
    """
    if tokenize not in ("13a", "intl", "char", "zh", "none"):
        raise ValueError(f"tokenize must be '13a', 'intl', 'char', 'zh' or 'none', not {tokenize!r:.60}")
    _make_metric(tokenize)  # a missing package is an error here, not in each case
    parameters = add_field({"expected": expected, "tokenize": tokenize}, field, "bleu")
    return Check(name or "bleu", _measure_bleu, parameters, threshold)


def _find_texts(values: Values, expected: str | None, check: str) -> tuple[str, str]:
    """The output and the expected output as texts."""
    texts = values.read_output(check), values.read_expected(expected, check)
    for text in texts:
        check_length(text, _MOST_CHARACTERS, check)
    return texts


def _measure_rouge(values: Values, *, expected: str | None) -> Evaluation:
    output, wanted = (_WORD.findall(text.lower()) for text in _find_texts(values, expected, "rouge_l"))
    if len(output) > _MOST_WORDS or len(wanted) > _MOST_WORDS:
        raise ValueError(f"rouge_l takes texts of up to {_MOST_WORDS:,} words")
    if not output and not wanted:
        return Evaluation(1.0)
    common = _import_rapidfuzz().distance.LCSseq.similarity(output, wanted)
    shares = {"precision": common / max(1, len(output)), "recall": common / max(1, len(wanted))}
    return Evaluation(2 * common / (len(output) + len(wanted)), metadata=shares)


def _measure_bleu(values: Values, *, expected: str | None, tokenize: str) -> Evaluation:
    output, wanted = _find_texts(values, expected, "bleu")
    if output == wanted:
        return Evaluation(1.0)
    score = _make_metric(tokenize).sentence_score(output, [wanted]).score
    return Evaluation(min(1.0, max(0.0, score / 100)))  # a rounding error may be over 100


def _import_rapidfuzz() -> Any:
    return import_extra("rapidfuzz", "rouge_l needs", extra="scorers")


@lru_cache(maxsize=8)
def _make_metric(tokenize: str) -> Any:
    metrics = import_extra("sacrebleu.metrics", "bleu needs", extra="text")
    return metrics.BLEU(effective_order=True, tokenize=tokenize)
