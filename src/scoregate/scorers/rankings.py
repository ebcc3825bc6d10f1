"""Scorers that compare the ids of the retrieved passages with those of the relevant ones, without a model."""

from __future__ import annotations

import json
from contextlib import suppress
from math import fsum, log2
from typing import Any

from scoregate.kernel.types.evaluation import Evaluation, Threshold, require_number
from scoregate.kernel.types.json_io import to_plain
from scoregate.kernel.types.text import is_whole_number
from scoregate.scorers.check import Check, Values
from scoregate.scorers.output_texts import EXPECTED, check_field, select_field
from scoregate.scorers.passages import CONTEXTS, read_ids

_MOST_NAMED = 5


def retrieval_recall(
    k: int | None = None,
    *,
    field: str = CONTEXTS,
    threshold: Threshold | float | None = None,
    name: str | None = None,
) -> Check:
    """Scores which share of the relevant passages was retrieved, by their ids.

    The output has the ids in the order of the ranking; the case's `expected` has the ids of the relevant passages. Both
    are lists of ids or of objects with an "id", or objects that have such a list in `field`. A mapping of ids to grades
    is read, too: ids with a grade over 0 are relevant. A case without relevant passages has no score.

    Args:
        k: how many of the first passages count; default: all.
        field: the path of the list in outputs, and in `expected` if it is an object.
        threshold: the score at or above which a case passes; default: the score is only compared.
        name: the scorer's name; default: "retrieval_recall", or "retrieval_recall@5" with k = 5.

    Raises:
        ValueError: k is not a whole number of at least 1.
    """
    return _make_check("retrieval_recall", _score_recall, k, field, threshold, name)


def mrr(
    k: int | None = None,
    *,
    field: str = CONTEXTS,
    threshold: Threshold | float | None = None,
    name: str | None = None,
) -> Check:
    """Scores the rank of the first relevant passage: 1 for the first place, 1/2 for the second, 0 if there is none.

    The mean over cases is the mean reciprocal rank (Voorhees, TREC-8, 1999). Ids are read as `retrieval_recall` does.

    Args:
        k: how many of the first passages count; default: all.
        field: the path of the list in outputs, and in `expected` if it is an object.
        threshold: the score at or above which a case passes; default: the score is only compared.
        name: the scorer's name; default: "mrr", or "mrr@5" with k = 5.

    Raises:
        ValueError: k is not a whole number of at least 1.
    """
    return _make_check("mrr", _score_first_rank, k, field, threshold, name)


def ndcg(
    k: int | None = None,
    *,
    field: str = CONTEXTS,
    threshold: Threshold | float | None = None,
    name: str | None = None,
) -> Check:
    """Scores the order of the passages: the discounted gain of the ranking over that of the best ranking.

    A passage at rank r adds its grade divided by log2(r + 1) (Järvelin and Kekäläinen, ACM TOIS 20, 2002). Each id in a
    list of relevant passages has the grade 1; a mapping of ids to grades has other ones. Ids are read as
    `retrieval_recall` does.

    Args:
        k: how many of the first passages count, in both rankings; default: all.
        field: the path of the list in outputs, and in `expected` if it is an object.
        threshold: the score at or above which a case passes; default: the score is only compared.
        name: the scorer's name; default: "ndcg", or "ndcg@5" with k = 5.

    Raises:
        ValueError: k is not a whole number of at least 1.
    """
    return _make_check("ndcg", _score_gain, k, field, threshold, name)


def _make_check(
    kind: str, score: Any, k: int | None, field: str, threshold: Threshold | float | None, name: str | None
) -> Check:
    if k is not None and not is_whole_number(k, 1):
        raise ValueError(f"{kind}: k must be a whole number of at least 1, not {k!r:.60}")
    path = check_field(field, kind)
    default = kind if k is None else f"{kind}@{k}"
    return Check(name or default, score, {"k": k, "path": path}, threshold)


def _score_recall(values: Values, *, k: int | None, path: str) -> Evaluation | None:
    grades, ranking = _read_both(values, path)
    if not grades:
        return None
    missing = [each for each in grades if each not in ranking[:k]]
    named = ", ".join(missing[:_MOST_NAMED]) + (", …" if len(missing) > _MOST_NAMED else "")
    found = len(grades) - len(missing)
    return Evaluation(found / len(grades), None, {"reason": f"not retrieved: {named}"} if missing else None)


def _score_first_rank(values: Values, *, k: int | None, path: str) -> Evaluation | None:
    grades, ranking = _read_both(values, path)
    if not grades:
        return None
    rank = next((rank for rank, each in enumerate(ranking[:k], 1) if each in grades), 0)
    if not rank:
        return Evaluation(0.0, None, {"reason": "no relevant passage was retrieved"})
    return Evaluation(1 / rank, None, {"reason": f"the first relevant passage has rank {rank}"} if rank > 1 else None)


def _score_gain(values: Values, *, k: int | None, path: str) -> Evaluation | None:
    grades, ranking = _read_both(values, path)
    if not grades:
        return None
    gain = _sum_gains([grades.get(each, 0.0) for each in ranking[:k]])
    best = _sum_gains(sorted(grades.values(), reverse=True)[:k])
    return Evaluation(min(1.0, gain / best))


def _sum_gains(grades: list[float]) -> float:
    return fsum(grade / log2(rank + 1) for rank, grade in enumerate(grades, 1))


def _read_both(values: Values, path: str) -> tuple[dict[str, float], list[str]]:
    """The grades of the relevant passages, and the ranking.

    Raises:
        ValueError: one is missing, or the ranking has texts where ids are expected.
    """
    grades, ranking = _read_grades(values.expected, path), _read_ranking(values.output, path)
    if ranking and all(map(_is_text, ranking)) and not any(map(_is_text, grades)):
        raise ValueError(
            'the passages of the output are texts without ids; return objects such as {"id": "faq-7", "text": "…"}'
        )
    return grades, ranking


def _is_text(name: str) -> bool:
    return len(name.split()) > 1


def _read_ranking(output: Any, path: str) -> list[str]:
    """The retrieved ids, each once, at its best rank: a passage that is retrieved twice is found once."""
    plain = _read_json(output)
    if isinstance(plain, list):
        return list(dict.fromkeys(read_ids(plain, "the output")))
    return list(dict.fromkeys(read_ids(select_field(output, path), f"the field {path!r} of the output")))


def _read_grades(expected: Any, path: str) -> dict[str, float]:
    """The grades of the relevant passages by their ids; those with the grade 0 are left out.

    Raises:
        ValueError: there are none, or a grade is no number of at least 0.
    """
    if expected is None:
        raise ValueError("the ids of the relevant passages are missing; give each case a list of them as `expected`")
    plain, place = _read_json(expected), EXPECTED
    if isinstance(plain, dict) and (path in plain or path.partition(".")[0] in plain):
        plain, place = select_field(plain, path, EXPECTED), f"the field {path!r} of {EXPECTED}"
    if not isinstance(plain, dict):
        return dict.fromkeys(read_ids(plain, place), 1.0)
    if any(isinstance(given, str | list | dict) for given in plain.values()):
        raise ValueError(f"{place} has neither a field {path!r} nor a grade for each id: {plain!r:.60}")
    return {each: grade for each, given in plain.items() if (grade := _read_grade(each, given, place)) > 0}


def _read_json(value: Any) -> Any:
    """A value as plain data. A text that is a list or an object in JSON, as cells of tables are, is read."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        with suppress(ValueError, RecursionError):
            return json.loads(value)
    return to_plain(value)


def _read_grade(name: str, given: Any, place: str) -> float:
    grade = require_number(given, f"the grade of {name!r:.60} in {place}")
    if grade < 0:
        raise ValueError(f"the grade of {name!r:.60} in {place} must be at least 0, not {grade:g}")
    return grade
