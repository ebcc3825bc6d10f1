"""The names of a baseline's cases: equal cases get the hash that they have in the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import replace

from scoregate.kernel.types.json_io import dump, sort_sets
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.run import Run, SuiteResult

_Names = Mapping[str, str]
_ReadCases = Callable[[], Iterable[CaseResult]]


def rename_base_cases(run: Run, base: Run, pairs: Iterable[tuple[int, int]]) -> Run:
    """Rename the cases of a baseline as `rename_cases` does; the same run if no hash changes.

    Args:
        run: the run.
        base: the baseline.
        pairs: the indices of suites that belong together, in the run and in the baseline.
    """
    names = {
        base_index: match
        for index, base_index in pairs
        if (match := match_names(run.suites[index], base.suites[base_index]))
    }
    if not names:
        return base
    suites = tuple(
        _with_names(suite, names[index]) if index in names else suite for index, suite in enumerate(base.suites)
    )
    by_suite = {_identity(base.suites[index]): match for index, match in names.items()}
    return replace(
        base,
        suites=suites,
        companions=base.change_companions(lambda each: _rename_companion(each, by_suite)),
        read=_rename_read(base.read, lambda index: names.get(index, {})),
    )


def _rename_companion(run: Run, by_suite: Mapping[Hashable, _Names]) -> Run:
    """A companion of a baseline, with the names that the baseline's suites got."""
    names = [by_suite.get(_identity(suite), {}) for suite in run.suites]
    suites = tuple(_with_names(suite, each) if each else suite for suite, each in zip(run.suites, names, strict=True))
    return replace(run, suites=suites, read=_rename_read(run.read, lambda index: names[index]))


def _identity(suite: SuiteResult) -> Hashable:
    return suite.script, suite.id, dump(sort_sets(dict(suite.params or {})))


def rename_cases(suite: SuiteResult, base: SuiteResult) -> SuiteResult:
    """Rename the cases of a baseline's suite to the hashes that equal cases have in the suite of the run.

    A hash may change while the case doesn't: an older version of scoregate made it in another way, a test got another
    description, or a case with the same input was inserted before it. So cases with an equal definition are paired.
    Others are paired by hash, so a case that was edited under its own name stays the same case.
    """
    names = match_names(suite, base)
    return _with_names(base, names) if names else base


def match_names(suite: SuiteResult, base: SuiteResult) -> dict[str, str]:
    """The new hash of each case of the baseline that needs one; only for suites of other frameworks."""
    if suite.setup is None:
        return {}
    cases, base_cases = _definitions(suite.columns), _definitions(base.columns)
    free, base_free = (
        {case: digest for case, digest in side.items() if not digest or digest != other.get(case)}
        for side, other in ((cases, base_cases), (base_cases, cases))
    )
    by_digest, base_by_digest = _by_unique_digest(free), _by_unique_digest(base_free)
    names = {case: by_digest[digest] for digest, case in base_by_digest.items() if digest and digest in by_digest}
    # A case whose hash now belongs to another one is a different case.
    taken = set(names.values())
    displaced = [case for case in base_free if case in taken and case not in names]
    used = {*cases, *base_cases}
    return names | dict(zip(displaced, _unused_names(displaced, used), strict=True))


def _by_unique_digest(digests: _Names) -> dict[str, str]:
    """The cases by digest, without those that share it: which of them belong together is unknown."""
    counts = Counter(digests.values())
    return {digest: case for case, digest in digests.items() if counts[digest] == 1}


def _unused_names(displaced: Iterable[str], used: set[str]) -> Iterator[str]:
    for case in displaced:
        name = f"{case} (baseline)"
        while name in used:
            name += "'"
        used.add(name)
        yield name


def _definitions(columns: Columns) -> dict[str, str]:
    """The digest of each case's definition, by hash."""
    return dict(zip(columns.hashes, columns.digests, strict=True))


def _with_names(suite: SuiteResult, names: _Names) -> SuiteResult:
    columns = replace(suite.columns, hashes=[names.get(case, case) for case in suite.columns.hashes])
    read = _rename_read(suite.trials.read, lambda _: names)
    return replace(suite, trials=replace(suite.trials, columns=columns, read=read))


def _rename_read(read: _ReadCases | None, names_of: Callable[[int], _Names]) -> _ReadCases | None:
    """Rename the cases that are read; `names_of` returns the names of a suite by its index."""
    if read is None:
        return None

    def cases() -> Iterator[CaseResult]:
        for case in read():
            name = names_of(case.suite).get(case.hash)
            yield case if name is None else replace(case, hash=name)

    return cases
