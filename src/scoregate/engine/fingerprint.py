"""What a score depends on besides the output, as digests: of code as a syntax tree, and of parameters."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from scoregate.core.parts import Fingerprint
from scoregate.core.wire import dump, ordered, plain
from scoregate.engine.definitions import of_name

_BARE = ("builtins", "abc", "typing", "typing_extensions")


def fingerprint(
    evaluator: object, *, ignore: Iterable[str] = (), model: str | None = None, prompt: str | None = None
) -> Fingerprint:
    """The fingerprint of an evaluator.

    The source is that of the user's classes and of everything in their modules that these refer to; a class of ours
    counts by its `version`.

    Where the source is not to be had (code typed into a console, classes made at run time) `source` is None.

    Args:
        evaluator: any object. ignore: attributes that do not change a score.
        model: the one that it asks, where it knows that better than its attribute `model`.
        prompt: a digest of what that is asked, where the evaluator knows it.
    """
    told = model or getattr(evaluator, "model", None)
    named = isinstance(told, str)
    return Fingerprint(
        source=_source(type(evaluator)),
        prompt=prompt,
        parameters=digest(_parameters(evaluator, {*ignore, "model"} if named else {*ignore})),
        model=told if named else None,
    )


def _source(cls: type) -> str | None:
    try:
        return digest(*_sources(cls))
    except (LookupError, RecursionError):
        return None


def _sources(cls: type) -> Iterator[str]:
    for base in cls.__mro__:
        if base.__module__.split(".")[0] == "scoregate":
            yield f"{base.__qualname__} {base.__dict__.get('version', 1)}"
        elif base.__module__ not in _BARE or not hasattr(sys.modules[base.__module__], base.__name__):
            yield from of_name(base.__module__, base.__qualname__)


def _parameters(evaluator: object, ignore: set[str]) -> str:
    attributes = sorted(_attributes(evaluator).items())
    own = ((name, value) for name, value in attributes if name not in ignore and _counts(name, value))
    return ",".join(f"{name}={stable(value)}" for name, value in own)


def _counts(name: str, value: object) -> bool:
    """Private values count where they are plain, as constructors keep them; a cache or a client does not."""
    return not name.startswith("_") or (name[1:2] != "_" and isinstance(value, str | int | float | bool | None))


def _attributes(evaluator: object) -> dict[str, Any]:
    slots = (cls.__dict__.get("__slots__", ()) for cls in type(evaluator).__mro__)
    names = [name for given in slots for name in ((given,) if isinstance(given, str) else given)]
    in_slots = {name: getattr(evaluator, name) for name in names if hasattr(evaluator, name)}
    return in_slots | getattr(evaluator, "__dict__", {})


def stable(value: Any) -> str:
    """A value as JSON in which what has no JSON form stands as a name, so that no address of memory gets in."""
    if hasattr(value, "__qualname__"):
        return f"<{value.__qualname__}>"
    if isinstance(value, Iterator):
        return f"<{type(value).__qualname__}>"
    try:
        return dump(plain(ordered(value))).decode()
    except Exception:  # whatever a foreign object raises when it is written
        return f"<{type(value).__qualname__}>"


def digest(*parts: str) -> str:
    """16 hexadecimal digits."""
    return hashlib.blake2b("\n".join(parts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
