"""Read from the environment which suites and cases to run, how often, and where to write events."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pydantic_core import from_json

from scoregate.engine.event_log import EVENTS_VARIABLE
from scoregate.errors import UsageError
from scoregate.kernel.types.call_headers import ADDRESS_VARIABLE
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.json_io import to_stable_plain
from scoregate.kernel.types.suite import Case, Description, Suite
from scoregate.kernel.types.text import matches_filters

if TYPE_CHECKING:
    from scoregate.kernel.types.selection import CaseChoice, CaseLabels, PartChoice

Variant: TypeAlias = Mapping[str, Any] | None
"""The parameters of a variant of a suite; None for a suite without variants."""

_SUITES = "FILTERS_TEST_SUITES"
_CASES = "OVERRIDES_TESTS_AND_HASHES"
_CHOICE = "SCOREGATE_SELECTION"
_PARTS = "SCOREGATE_PARTS"


class Selection(NamedTuple):
    """The suites and cases to run.

    Attributes:
        globs: patterns of scoregate's variable; a pattern must match the whole suite id.
        substrings: texts of Autoblocks' variable; a suite id must contain one of them.
        hashes: hashes of the cases to run, by suite id; an empty list means all cases, an empty mapping all suites.
        repeats: how often each case runs; None leaves it to the suite.
        max_cases: the largest number of cases per suite; None leaves it to the suite.
        choice: the cases that this run was limited to; None takes all.
        first: hashes of the cases that run before the others, by suite id.
        parts: the parts of suites that this process runs for a shard; None without shards.
    """

    globs: tuple[str, ...] = ()
    substrings: tuple[str, ...] = ()
    hashes: Mapping[str, tuple[str, ...]] = {}
    repeats: int | None = None
    max_cases: int | None = None
    choice: CaseChoice | None = None
    first: Mapping[str, tuple[str, ...]] = {}
    parts: PartChoice | None = None

    def includes(self, suite: str) -> bool:
        """Whether to run this suite."""
        if not matches_filters(suite, self.globs):
            return False
        if self.substrings and not any(part in suite for part in self.substrings):
            return False
        if self.choice is not None and not self.choice.takes_suite(suite):
            return False
        if self.parts is not None and not self.parts.takes_suite(suite):
            return False
        return not self.hashes or suite in self.hashes

    def leaves_out(self, suite: Suite) -> bool:
        """Whether this run was limited to cases that the suite does not have. Problems of a suite are reported."""
        counts_only = self.choice is not None and self.choice.sample == 0  # it starts, to report how many it has
        return self.choice is not None and not (counts_only or suite.cases or suite.problems)


def read_selection(environ: Mapping[str, str] = os.environ) -> Selection:
    """Read the selection from `SCOREGATE_*` variables; a variable that is not set is replaced by `AUTOBLOCKS_*`.

    Raises:
        UsageError: a variable has an invalid value.
    """
    globs = environ.get(f"SCOREGATE_{_SUITES}")
    substrings = None if globs else environ.get(f"AUTOBLOCKS_{_SUITES}")
    cases_name = f"SCOREGATE_{_CASES}" if environ.get(f"SCOREGATE_{_CASES}") else f"AUTOBLOCKS_{_CASES}"
    cases_text = environ.get(cases_name)
    hashes = _parse_json(cases_name, cases_text) if cases_text else {}
    if not isinstance(hashes, dict) or not all(isinstance(cases, list) for cases in hashes.values()):
        raise UsageError(f"{cases_name} must be a JSON object of suite ids and lists of hashes, not {cases_text!r}")
    choice, first = _parse_choice(environ.get(_CHOICE, ""))
    return Selection(
        globs=_parse_strings(f"SCOREGATE_{_SUITES}", globs),
        substrings=_parse_strings(f"AUTOBLOCKS_{_SUITES}", substrings),
        hashes={suite: tuple(map(str, cases)) for suite, cases in hashes.items()},
        repeats=_parse_count("SCOREGATE_REPEATS", environ),
        max_cases=_parse_count("SCOREGATE_MAX_CASES", environ),
        choice=choice,
        first=first,
        parts=read_parts(environ),
    )


def select_cases(
    cases: Sequence[Case], suite: str, selection: Selection, describe: Callable[[Case], Description]
) -> Iterator[Case]:
    """Return the cases of a suite that are selected, in the order in which they run.

    Args:
        cases: all cases.
        suite: the id of the suite.
        selection: what to select.
        describe: returns the name and tags of a case; called only if the selection depends on them.
    """
    return _select((None,), cases, suite, selection, describe)[1]


def select_suite(suite: Suite, selection: Selection, none_selected: str = "") -> Suite:
    """Return the suite with the selected cases, and the variants in which one of them is selected.

    A case that is selected in one variant runs in all of these. Without a selected case, all variants are returned.

    Args:
        suite: the suite with all cases and variants.
        selection: what to select. Its keyword can match the label of a variant, such as `bot [task=small]`.
        none_selected: the problem of a suite that has none of the cases that were asked for; empty if that is none.
    """
    variants, selected = _select(suite.variants, suite.cases, suite.id, selection, suite.describe)
    cases, is_partial, problems = list(selected), selection.choice is not None, suite.problems
    if none_selected and suite.cases and not (cases or is_partial):
        problems = (*problems, ErrorInfo("InvalidSuite", f"suite {suite.id!r:.200}: {none_selected}"))
    total = suite.trials if is_partial else None
    return replace(suite, cases=cases, variants=variants, problems=problems, total=total)


def _select(
    variants: Sequence[Variant],
    cases: Sequence[Case],
    suite: str,
    selection: Selection,
    describe: Callable[[Case], Description],
) -> tuple[Sequence[Variant], Iterator[Case]]:
    hashes = set(selection.hashes.get(suite, ()))
    selected = [case for case in cases if not hashes or case.hash in hashes]
    if (choice := selection.choice) is not None:
        labels = [_label_case(case, describe) for case in selected]
        names = [_label_variant(suite, params) for params in variants]
        taken = [[each for each in labels if choice.takes_case(suite, each, name)] for name in names]
        variants = [params for params, own in zip(variants, taken, strict=True) if own] or variants
        hashes = {each.hash for each in chain.from_iterable(taken)}
        chosen = choice.draw_sample([each for each in labels if each.hash in hashes])
        selected = [case for case in selected if case.hash in chosen]
    if first := set(selection.first.get(suite, ())):
        selected.sort(key=lambda case: case.hash not in first)
    return variants, islice(selected, selection.max_cases)


def _label_variant(suite: str, params: Variant) -> str:
    from scoregate.kernel.types.runs.suite_labels import suite_label

    return suite_label(suite, None if params is None else to_stable_plain(params), shows_target=True)


def _label_case(case: Case, describe: Callable[[Case], Description]) -> CaseLabels:
    from scoregate.kernel.types.selection import CaseLabels

    try:
        description = describe(case)
    except Exception:  # the user's code may raise anything; the case reports it when it runs
        return CaseLabels(case.hash)
    return CaseLabels(case.hash, description.name, description.tags)


def events_folder(environ: Mapping[str, str] = os.environ) -> Path | None:
    """The folder from which the host reads events; None without a host."""
    folder = environ.get(EVENTS_VARIABLE)
    return Path(folder) if folder else None


def run_message(environ: Mapping[str, str] = os.environ) -> str | None:
    """The title of the run; None if no variable sets it. The order is that of Autoblocks' SDK."""
    return (
        environ.get("SCOREGATE_TEST_RUN_MESSAGE")
        or _parse_override_message(environ.get("AUTOBLOCKS_OVERRIDES", ""))
        or environ.get("AUTOBLOCKS_TEST_RUN_MESSAGE")
    )


def _parse_override_message(text: str) -> str | None:
    """The title in Autoblocks' object of overrides. Its SDK ignores a text that is no such object, too."""
    try:
        overrides = from_json(text) if text else None
    except ValueError:
        return None
    message = overrides.get("testRunMessage") if isinstance(overrides, dict) else None
    return message if isinstance(message, str) else None


def _parse_strings(name: str, text: str | None) -> tuple[str, ...]:
    value = _parse_json(name, text) if text else []
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise UsageError(f"{name} must be a JSON list of strings, not {text!r}")
    return tuple(value)


def _parse_json(name: str, text: str) -> object:
    try:
        return from_json(text)
    except ValueError as error:
        raise UsageError(f"{name} is not JSON: {error}") from None


def _parse_choice(text: str) -> tuple[CaseChoice | None, Mapping[str, tuple[str, ...]]]:
    """The choice of a partial run, which the host writes, and the cases that run first."""
    if not text:
        return None, {}
    from scoregate.kernel.types.selection import CaseChoice

    data = _parse_json(_CHOICE, text)
    if not isinstance(data, dict):
        raise UsageError(f"{_CHOICE} must be a JSON object, not {text!r:.200}")
    first = {str(suite): tuple(map(str, cases)) for suite, cases in dict(data.pop("first", {})).items()}
    named = tuple((str(suite), str(case)) for suite, case in data.pop("named", ()))
    try:
        return (CaseChoice(named=named, **data) if data or named else None), first
    except TypeError as error:
        raise UsageError(f"{_CHOICE} is not valid: {error}") from None


def read_parts(environ: Mapping[str, str] = os.environ) -> PartChoice | None:
    """The parts of suites that this process runs for a shard; None without shards.

    Raises:
        UsageError: the variable has an invalid value.
    """
    if not (text := environ.get(_PARTS, "")):
        return None
    from scoregate.kernel.types.selection import PartChoice

    try:
        return PartChoice.parse(dict(_parse_json(_PARTS, text)))  # type: ignore[call-overload]
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{_PARTS} is not valid: {error}") from None


def _parse_count(name: str, environ: Mapping[str, str]) -> int | None:
    text = environ.get(name, "")
    if text and not (text.isascii() and text.isdigit() and int(text)):
        raise UsageError(f"{name} must be a whole number of at least 1, not {text!r}")
    return int(text) if text else None


def name_calls_at_gateway() -> None:
    """Make clients of HTTP libraries name the case of their calls, if the run has a gateway."""
    if os.environ.get(ADDRESS_VARIABLE):
        from scoregate.engine.client_headers import name_calls

        name_calls()
