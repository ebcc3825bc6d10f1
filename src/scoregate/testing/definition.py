"""From what the user wrote to a suite that can be run, every problem told and none of the rest lost."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from scoregate.core.figures import is_positive, is_whole
from scoregate.core.parts import ErrorInfo
from scoregate.core.suite import Limits, Suite
from scoregate.engine.environment import Selection, chosen, message
from scoregate.engine.evaluators import read_scorers
from scoregate.engine.origin import caller
from scoregate.engine.outputs import output_form
from scoregate.testing.cases import Hasher, describe, hasher, read_cases


def define(
    suite_id: Any,
    test_cases: Any,
    fn: Any,
    *,
    evaluators: Iterable[Any] | None,
    max_test_case_concurrency: Any,
    before_evaluators_hook: Callable[..., Any] | None,
    grid_search_params: Any,
    human_review_job: Any,
    retry_count: Any,
    test_case_hash: Sequence[str] | Hasher | None,
    timeout: float | None,
    selection: Selection,
) -> Suite:
    """The suite. What cannot be used is left out and named in `problems`."""
    problems: list[str] = []
    if not isinstance(suite_id, str) or not suite_id:
        problems.append(f"the id must be a string that is not empty, not {suite_id!r}")
    if not callable(fn):
        problems.append(f"fn must be callable, not {fn!r:.100}")
    values = _listed(test_cases, "test_cases", problems)
    found, case_problems = read_cases(values, _hasher(test_case_hash, problems), selection)
    scorers, scorer_problems = read_scorers(_listed(evaluators or (), "evaluators", problems))
    variants = _variants(grid_search_params, problems)
    limits = _limits(max_test_case_concurrency, retry_count, timeout, problems)
    cases = list(chosen(found, str(suite_id), selection)) if callable(fn) else []
    if not values:
        problems.append("no test cases")
    elif found and not cases and callable(fn):
        problems.append("none of its test cases has a hash that was asked for")
    if human_review_job is not None:
        problems += _job_problems(human_review_job)
    name = suite_id if isinstance(suite_id, str) and suite_id else "(no id)"
    return Suite(
        id=name,
        cases=cases,
        task=fn,
        describe=describe,
        output_form=output_form,
        scorers=scorers,
        hook=before_evaluators_hook,
        limits=limits,
        origin=caller(),
        variants=variants,
        problems=[_problem(name, text) for text in (*problems, *case_problems, *scorer_problems)],
        message=message(),
    )


def _problem(suite: str, text: str) -> ErrorInfo:
    return ErrorInfo("InvalidSuite", f"suite {suite!r}: {text}")


def _listed(values: Any, name: str, problems: list[str]) -> list[Any]:
    try:
        return list(values)
    except Exception as error:  # a generator of cases may raise anything
        problems.append(f"{name} cannot be listed: {type(error).__name__}: {error}")
        return []


def _hasher(given: Any, problems: list[str]) -> Hasher:
    try:
        return hasher(given)
    except TypeError as error:
        problems.append(f"test_case_hash must be names of fields or a function, not {given!r:.100}: {error}")
        return hasher(None)


def _limits(concurrency: Any, retries: Any, timeout: Any, problems: list[str]) -> Limits:
    if not is_whole(concurrency, 1):
        problems.append(f"max_test_case_concurrency must be a whole number of at least 1, not {concurrency!r}")
        concurrency = 10
    if not is_whole(retries, 0):
        problems.append(f"retry_count must be a whole number of at least 0, not {retries!r}")
        retries = 0
    if timeout is not None and not is_positive(timeout):
        problems.append(f"timeout must be a number of seconds over 0, not {timeout!r}")
        timeout = None
    return Limits(concurrency, retries, timeout)


def _job_problems(job: Any) -> list[str]:
    from scoregate.testing.reviews import CreateHumanReviewJob

    known = isinstance(job, CreateHumanReviewJob)
    return [] if known else [f"human_review_job must be a CreateHumanReviewJob, not {job!r:.100}"]


def _variants(params: Any, problems: list[str]) -> Sequence[Mapping[str, Any] | None]:
    if params is None:
        return (None,)
    if not isinstance(params, Mapping) or not params:
        problems.append(f"grid_search_params must be a dict that is not empty, not {params!r:.100}")
        return (None,)
    bad = [name for name, values in params.items() if not _is_choice(name, values)]
    if bad:
        problems.append(f"grid_search_params: {bad!r} must be strings with lists of values that are not empty")
        return (None,)
    return [dict(zip(params, combination, strict=True)) for combination in itertools.product(*params.values())]


def _is_choice(name: object, values: object) -> bool:
    return isinstance(name, str) and isinstance(values, Sequence) and not isinstance(values, str) and bool(values)
