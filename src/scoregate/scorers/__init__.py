"""Scorers for `evaluate`. Any callable is a scorer, too; `scorer` gives it a name, a threshold or a scale."""

from typing import TYPE_CHECKING

from scoregate.kernel.types.lazy_names import make_dir, make_getattr
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
    from scoregate.scorers.assertions import CaseRubric, assertion, rubric, weighted_assertions
    from scoregate.scorers.claim_judges import (
        RetrievalJudge,
        answer_relevancy,
        context_recall,
        faithfulness,
        hallucination_free,
    )
    from scoregate.scorers.embeddings import EmbeddingSimilarity, embedding_similarity
    from scoregate.scorers.judges import ModelJudge, TrajectoryJudge, choice_judge, goal_reached, judge, plan_followed
    from scoregate.scorers.overlap import bleu, rouge_l
    from scoregate.scorers.pairs import PairwiseJudge, pairwise
    from scoregate.scorers.passage_judges import citation_correct, context_precision
    from scoregate.scorers.pii import pii_free
    from scoregate.scorers.rankings import mrr, ndcg, retrieval_recall
    from scoregate.scorers.trajectories import (
        TrajectoryCheck,
        called,
        command_passes,
        files_changed,
        max_steps,
        never_called,
        no_repeated_calls,
        recovered_from_errors,
        tool_calls,
    )

__all__ = [
    "CaseRubric",
    "Check",
    "EmbeddingSimilarity",
    "ModelJudge",
    "PairwiseJudge",
    "RetrievalJudge",
    "TrajectoryCheck",
    "TrajectoryJudge",
    "WrappedScorer",
    "answer_relevancy",
    "assertion",
    "bleu",
    "called",
    "choice_judge",
    "citation_correct",
    "command_passes",
    "contains",
    "contains_all",
    "contains_any",
    "context_precision",
    "context_recall",
    "embedding_similarity",
    "equals",
    "faithfulness",
    "files_changed",
    "goal_reached",
    "hallucination_free",
    "json_equals",
    "json_schema",
    "json_valid",
    "judge",
    "latency",
    "length",
    "levenshtein",
    "max_steps",
    "mrr",
    "ndcg",
    "never_called",
    "no_repeated_calls",
    "numeric_close",
    "pairwise",
    "pii_free",
    "plan_followed",
    "recovered_from_errors",
    "regex",
    "retrieval_recall",
    "rouge_l",
    "rubric",
    "scorer",
    "similarity",
    "tool_calls",
    "weighted_assertions",
]

# Many suites use none of these scorers.
__dir__ = make_dir(__name__)
__getattr__ = make_getattr(
    __name__,
    {
        ".assertions": ("CaseRubric", "assertion", "rubric", "weighted_assertions"),
        ".embeddings": ("EmbeddingSimilarity", "embedding_similarity"),
        ".judges": ("ModelJudge", "TrajectoryJudge", "choice_judge", "goal_reached", "judge", "plan_followed"),
        ".overlap": ("bleu", "rouge_l"),
        ".pairs": ("PairwiseJudge", "pairwise"),
        ".pii": ("pii_free",),
        ".claim_judges": (
            "RetrievalJudge",
            "answer_relevancy",
            "context_recall",
            "faithfulness",
            "hallucination_free",
        ),
        ".passage_judges": ("citation_correct", "context_precision"),
        ".rankings": ("mrr", "ndcg", "retrieval_recall"),
        ".trajectories": (
            "TrajectoryCheck",
            "called",
            "command_passes",
            "files_changed",
            "max_steps",
            "never_called",
            "no_repeated_calls",
            "recovered_from_errors",
            "tool_calls",
        ),
    },
)
