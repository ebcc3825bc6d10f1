"""What a conversion made, and what it left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scoregate.kernel.types.records import record

_LONGEST = 300


@record
class UnconvertedPart:
    """A part of a configuration that wasn't converted.

    Attributes:
        place: where it is, such as "promptfooconfig.yaml tests[2].assert[0]".
        reason: why, and what to do.
    """

    place: str
    reason: str


@dataclass(slots=True)
class Findings:
    """What a conversion found.

    Attributes:
        counts: how many parts of each kind were converted.
        left_out: the parts that were not.
        ignored: settings that change no verdict.
    """

    counts: Counter[str] = field(default_factory=Counter)
    left_out: dict[UnconvertedPart, None] = field(default_factory=dict)
    ignored: dict[str, None] = field(default_factory=dict)

    def leave_out(self, place: str, reason: str) -> None:
        """Record a part that isn't converted. The same part counts once.

        Args:
            place: where it is.
            reason: why, and what to do.
        """
        self.left_out[UnconvertedPart(_make_line(place), _make_line(reason))] = None

    def ignore(self, place: str) -> None:
        """Record a setting that changes no verdict.

        Args:
            place: where it is.
        """
        self.ignored[_make_line(place)] = None


@record
class Suite:
    """A suite to write.

    Attributes:
        name: the suite's name.
        file: the name of the Python file.
        prompts: the files of prompts, by their names.
        variants: for each variant its prompt's file, its model and the parameters of requests.
        cases: the rows of the data.
        scorers: the calls that make the scorers: a function's name and its arguments.
        options: further arguments of `evaluate`.
        folder: the folder of the configuration, which programs and Python files are relative to.
    """

    name: str
    file: str
    prompts: Mapping[str, str]
    variants: Mapping[str, Mapping[str, Any]]
    cases: Sequence[Mapping[str, Any]]
    scorers: Sequence[tuple[str, Mapping[str, Any]]]
    options: Mapping[str, Any]
    folder: Path = Path()


def _make_line(text: str) -> str:
    line = "".join(character if character.isprintable() else "?" for character in " ".join(text.split()))
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
