"""The names of the suites that this process ran. A comparison pairs suites by name, so each has its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from scoregate.kernel.types.event_values import ErrorInfo, Origin
from scoregate.kernel.types.json_io import dump_plain, sort_sets

_Key: TypeAlias = tuple[Path | None, str, bytes]
_origins: dict[_Key, Origin | None] = {}


def claim_name(
    suite: str,
    origin: Origin | None,
    folder: Path | None,
    *,
    is_main: bool = False,
    variants: Sequence[Mapping[str, Any] | None] = (None,),
) -> tuple[ErrorInfo, ...]:
    """Note that a suite runs, and return a problem if one with its name and parameters ran before.

    In a notebook or an ordinary test, a suite may run again. So only a host's processes are checked, and files that
    Python was started with.

    Args:
        suite: the name of the suite.
        origin: where it is defined.
        folder: the folder of the host; None without a host.
        is_main: whether the file that runs the suite is the one that Python was started with.
        variants: the parameters of its variants.
    """
    if folder is None and not is_main:
        return ()
    keys = list(_make_keys(suite, folder, variants))
    known = [_origins[key] for key in keys if key in _origins]
    for key in keys:
        _origins.setdefault(key, origin)
    return (_describe(suite, known[0]),) if known else ()


def _make_keys(suite: str, folder: Path | None, variants: Sequence[Mapping[str, Any] | None]) -> Iterator[_Key]:
    for params in variants:
        items = [] if params is None else sorted(params.items(), key=lambda item: str(item[0]))
        yield folder, suite, dump_plain(sort_sets(items))


def _describe(suite: str, first: Origin | None) -> ErrorInfo:
    place = "" if first is None else f" ({first.file}:{first.line})"
    text = f"a suite with this name ran before{place}; give each a name of its own, or pass several tasks to one suite"
    return ErrorInfo("InvalidSuite", f"suite {suite!r:.100}: {text}")
