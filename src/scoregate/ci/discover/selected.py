"""Of all that was found, the part that is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from scoregate.ci.plan import Found, Skipped, Source
from scoregate.core.filters import is_wanted


def selected(found: Found, globs: Sequence[str]) -> Found:
    """What was found less what holds no suite whose id matches, as far as ids are known; with a notice of every id that
    is used twice."""
    dropped = [source for source in found.sources if not _is_wanted(source, globs)]
    kept = tuple(source for source in found.sources if source not in dropped)
    skipped = (*found.skipped, *(_left_out(source, globs) for source in dropped))
    return replace(found, sources=kept, skipped=skipped, notices=(*found.notices, *_shared(kept)))


def _is_wanted(source: Source, globs: Iterable[str]) -> bool:
    ids = source.suite_ids
    return ids is None or source.error is not None or any(is_wanted(suite, globs) for suite in ids)


def _left_out(source: Source, globs: Iterable[str]) -> Skipped:
    ids = source.suite_ids or ()
    return Skipped(source.path, f"its suites ({', '.join(ids)}) are not among {', '.join(globs)}", left_out=ids)


def _shared(sources: Iterable[Source]) -> Iterator[str]:
    files: dict[str, list[str]] = {}
    for source in sources:
        for suite in source.suite_ids or ():
            files.setdefault(suite, []).append(source.path)
    for suite, paths in files.items():
        if len(paths) > 1:
            yield f"the suite id {suite} is used in {', '.join(paths)}; all run, their names qualified by file"
