"""Scorers for `evaluate`. Any callable is a scorer, too; `scorer` gives it a name, a threshold or a scale."""

from scoregate.scorers.check import Check, WrappedScorer, scorer
from scoregate.scorers.documents import json_equals, json_schema, json_valid, latency, numeric_close
from scoregate.scorers.judges import ModelJudge, choice_judge, judge
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

__all__ = [
    "Check",
    "ModelJudge",
    "WrappedScorer",
    "choice_judge",
    "contains",
    "contains_all",
    "contains_any",
    "equals",
    "json_equals",
    "json_schema",
    "json_valid",
    "judge",
    "latency",
    "length",
    "levenshtein",
    "numeric_close",
    "regex",
    "scorer",
    "similarity",
]
