"""Names that a question to a history may use: an unknown one is an error, with the names that are like it."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches

from scoregate.errors import UsageError
from scoregate.features.history.queries import RunFilter, list_series
from scoregate.features.history.stores import HistoryStore
from scoregate.features.history.tables import LONGEST_HASH, clean_text
from scoregate.kernel.types.text import suggest_names

_MOST_READ = 5_000
_MOST_NEAR = 3


def check_runs(store: HistoryStore, chosen: RunFilter) -> None:
    """Check that there are runs of the project and of the branch, at any time.

    Raises:
        UsageError: the history has no run, or none of this project or branch.
    """
    projects = _list(store, "SELECT DISTINCT project FROM runs")
    if not projects:
        raise UsageError("the history has no runs", advice="Import some: scoregate history import RUN...")
    if chosen.project is not None and (project := clean_text(chosen.project)) not in projects:
        problem = f"the history has no runs of the project {project!r:.200}"
        raise UsageError(problem, advice=suggest_names(project, projects))
    if chosen.branch is not None:
        of_project = RunFilter(chosen.project)
        query = f"SELECT DISTINCT r.branch FROM runs r WHERE r.branch IS NOT NULL AND {of_project.condition}"
        branches = _list(store, query, **of_project.parameters)
        if (branch := clean_text(chosen.branch)) not in branches:
            raise UsageError(f"no run is of the branch {branch!r:.200}", advice=suggest_names(branch, branches))


def check_suite(store: HistoryStore, chosen: RunFilter, suite: str, evaluator: str | None = None) -> None:
    """Check that a run of the project and of the branch has a suite, and scores of an evaluator in it.

    Args:
        store: the history.
        chosen: which runs; their time doesn't matter.
        suite: the label of the suite.
        evaluator: the name of the evaluator; None for any.

    Raises:
        UsageError: none has.
    """
    series = list_series(store, replace(chosen, since=None, runs=None))
    suite, suites = clean_text(suite), list(dict.fromkeys(label for label, _, _ in series))
    if suite not in suites:
        raise UsageError(f"no run has scores of the suite {suite!r:.200}", advice=suggest_names(suite, suites))
    if evaluator is None:
        return
    evaluator, evaluators = clean_text(evaluator), [name for label, name, _ in series if label == suite]
    if evaluator not in evaluators:
        problem = f"no run has scores of {evaluator!r:.200} in the suite {suite!r:.200}"
        raise UsageError(problem, advice=suggest_names(evaluator, evaluators))


def check_case(store: HistoryStore, chosen: RunFilter, case_hash: str) -> None:
    """Check that a case of the project has a hash, or one that starts so.

    Raises:
        UsageError: none has. The advice has the hashes of the cases with this name, or one like it.
    """
    case_hash = clean_text(case_hash, LONGEST_HASH)
    in_project = "u.project = :project" if chosen.project is not None else "1 = 1"
    parameters = {"project": clean_text(chosen.project)} if chosen.project is not None else {}
    query = f"SELECT k.hash, k.name FROM cases k JOIN suites u ON u.id = k.suite_id WHERE {in_project}"
    # A range uses the index; U+10FFFF comes after all other characters.
    is_like = " AND k.hash >= :first AND k.hash < :last LIMIT 1"
    if store.query(query + is_like, {**parameters, "first": case_hash, "last": f"{case_hash}\U0010ffff"}):
        return
    rows = store.query(f"{query} ORDER BY k.hash LIMIT {_MOST_READ}", parameters)
    near = get_close_matches(case_hash, list({name for _, name in rows}), _MOST_NEAR)
    named = [f"{known!r:.100} is {name!r:.100}" for known, name in rows if name in near][:_MOST_NEAR]
    advice = f"Name a hash: {'; '.join(named)}." if named else "The hashes are in result.json, and in the report."
    raise UsageError(f"no case has a hash that starts with {case_hash!r:.200}", advice=advice)


def _list(store: HistoryStore, query: str, **parameters: str) -> list[str]:
    return sorted(name for (name,) in store.query(query, parameters))
