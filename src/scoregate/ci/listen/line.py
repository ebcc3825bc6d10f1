"""What a launched command is told of the server, and how its suites are chosen."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """A launched command's own way to the server.

    `address` is what its SDKs are given: it ends in a token that nobody else knows, so that no other user of this
    machine can speak for it. `suites` are the globs of which a suite must match one; none lets every suite be heard.
    """

    address: str
    suites: tuple[str, ...] = ()
