"""What events and records are made of: where a suite stands, what scores it, what went wrong.

Apart from the events themselves, which who only writes them has no need of: the SDK starts sooner without.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

SCHEMA_VERSION = 1
MAX_MESSAGE = 4_000
MAX_TRACEBACK = 16_000
MOST_CHOICES, LONGEST_CHOICE = 100, 200
EventType: TypeAlias = Literal[
    "suite_started",
    "case_started",
    "case_output",
    "scored",
    "labelled",
    "errored",
    "review_requested",
    "case_finished",
    "suite_finished",
]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a suite or a case is defined: a path relative to the repository, a line counted from 1."""

    file: str
    line: int = 1


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What a score depends on besides the output: digests, and in clear the model and the version that people gave."""

    source: str | None = None
    prompt: str | None = None
    parameters: str | None = None
    model: str | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """A score in [0, 1] that a judge may give, and what it calls that, where it has a name for it."""

    value: float
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name[:LONGEST_CHOICE])


@dataclass(frozen=True, slots=True)
class EvaluatorInfo:
    """An evaluator as the record knows it. `battles`: it holds outputs against the base's, which it has to be told.

    `choices` are all the scores that it can give; none where it may give any, or more than 100, or such as are none.
    `boolean`: its scores in events are `true` and `false`, which count as 1 and 0.
    """

    id: str
    fingerprint: Fingerprint | None = None
    higher_is_better: bool = True
    battles: bool = False
    choices: tuple[Choice, ...] = ()
    boolean: bool = False

    def __post_init__(self) -> None:
        sound = len(self.choices) <= MOST_CHOICES and all(0 <= choice.value <= 1 for choice in self.choices)
        object.__setattr__(self, "choices", self.choices if sound else ())


@dataclass(frozen=True, slots=True)
class ErrorInfo:
    """An exception as data. `traceback` is text; `advice` says what to do, where we know."""

    type: str
    message: str
    traceback: str = ""
    advice: str = ""


def bounded(text: str, limit: int) -> str:
    """A text of about `limit` characters at most: where there are more, its beginning and its end."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n… {len(text) - limit:,} characters left out …\n{text[-half:]}"
