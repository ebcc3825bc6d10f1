"""Scorers for `evaluate`. Any callable is a scorer, too; `scorer` gives it a name, a threshold or a scale."""

from typing import TYPE_CHECKING

from scoregate.core.lazy_names import make_getattr
from scoregate.scorers.check import Check, WrappedScorer, scorer
from scoregate.scorers.documents import json_equals, json_schema, json_valid, latency, numeric_close
from scoregate.scorers.texts import (
    contains,
    contains_all,
    contains_any,
    equals,
    length,
    levenshtein,
    regex,
    similarity,
)

if TYPE_CHECKING:
    from scoregate.scorers.embeddings import EmbeddingSimilarity, embedding_similarity
    from scoregate.scorers.judges import ModelJudge, choice_judge, judge
    from scoregate.scorers.overlap import bleu, rouge_l
    from scoregate.scorers.pairs import PairwiseJudge, pairwise
    from scoregate.scorers.pii import pii_free

__all__ = [
    "Check",
    "EmbeddingSimilarity",
    "ModelJudge",
    "PairwiseJudge",
    "WrappedScorer",
    "bleu",
    "choice_judge",
    "contains",
    "contains_all",
    "contains_any",
    "embedding_similarity",
    "equals",
    "json_equals",
    "json_schema",
    "json_valid",
    "judge",
    "latency",
    "length",
    "levenshtein",
    "numeric_close",
    "pairwise",
    "pii_free",
    "regex",
    "rouge_l",
    "scorer",
    "similarity",
]

# Many suites use none of these scorers.
__getattr__ = make_getattr(
    __name__,
    {
        ".embeddings": ("EmbeddingSimilarity", "embedding_similarity"),
        ".judges": ("ModelJudge", "choice_judge", "judge"),
        ".overlap": ("bleu", "rouge_l"),
        ".pairs": ("PairwiseJudge", "pairwise"),
        ".pii": ("pii_free",),
    },
)
