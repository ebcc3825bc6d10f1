"""JSONPath, made ready once; the plain ones without a library."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

from scoregate.endpoints.surroundings import Surroundings
from scoregate.errors import MissingExtra

Path: TypeAlias = Callable[[Any], Any]
_STEP = re.compile(r"""\.([A-Za-z_]\w*)|\[(\d{1,9})\]|\['([^'\\]+)'\]|\["([^"\\]+)"\]""")
_PLAIN = re.compile(rf"\$(?:{_STEP.pattern})*")


def path_of(text: str, surroundings: Surroundings) -> Path:
    """What finds the first value at a path, and None where there is none.

    Raises:
        EndpointError: it is no JSONPath. MissingExtra: it takes jsonpath-ng, which is not installed.
    """
    if _PLAIN.fullmatch(text):
        return _plain([int(i) if i else a or b or c for a, i, b, c in _STEP.findall(text)])
    try:
        from jsonpath_ng.ext.parser import parse
    except ImportError:
        raise MissingExtra(
            f"the JSONPath {text!r:.200} takes the package jsonpath-ng, which is not installed",
            advice="Run: pip install 'scoregate[endpoints]'",
        ) from None
    try:
        find = parse(text).find
    except Exception as error:  # the library's own, and those of what it calls
        surroundings.misconfigured(f"{text!r:.200} is no JSONPath: {error!s:.200}", "Such as $.answer or $.a[0].text.")
    return lambda value: next((match.value for match in find(value)), None)


def _plain(steps: list[Any]) -> Path:
    kinds = [(step, list if isinstance(step, int) else dict) for step in steps]

    def found(value: Any) -> Any:
        for step, kind in kinds:
            if not isinstance(value, kind):
                return None
            try:
                value = value[step]
            except (KeyError, IndexError):
                return None
        return value

    return found
