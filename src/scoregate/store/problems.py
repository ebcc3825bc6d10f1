"""What is wrong with something that people wrote or git merged, in words."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import ValidationError

MOST = 10
_CONFLICT = "git left a merge conflict here"
_MARKERS = (b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>")
_TWICE = "says otherwise than line"


def marker(line: bytes) -> str | None:
    """What to say of a line that git wrote into a file that it could not merge."""
    return f"{_CONFLICT} ({line[:7].decode()})" if line.startswith(_MARKERS) else None


def said(error: ValidationError) -> str:
    """All that is wrong with one item, on one line; what people or models wrote is bounded and quoted."""
    return "; ".join(_said(each) for each in details(error))


def details(error: ValidationError) -> Iterable[tuple[str, str]]:
    """For each thing that is wrong: where in the item, empty where in all of it, and what."""
    for found in error.errors(include_url=False, include_context=False):
        where = ".".join(str(part) for part in found["loc"])
        if found["type"] == "extra_forbidden":
            yield where, "there is no such field"
        elif found["type"] in ("missing", "json_invalid"):
            yield where, "is missing" if found["type"] == "missing" else found["msg"]
        else:
            what = found["msg"].removeprefix("Value error, ").replace("Input should", "must")
            yield where, f"{what}, not {found['input']!r:.60}" if where else what


def _said(problem: tuple[str, str]) -> str:
    where, what = problem
    return f"{where:.80}: {what}" if where else what


def advice(problems: Iterable[str]) -> str:
    """What to do about them."""
    joined = "\n".join(problems)
    if _CONFLICT in joined:
        return "Keep the lines of both sides, delete the lines that git put between them, then `git add` the file."
    if _TWICE in joined:
        return "Two branches changed the same thing: keep the line that is right, delete the other."
    return "Correct these lines by hand, or take the file back from git."
