"""The values that events carry: origins, setups, fingerprints, choices, errors, and requested reviews."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from typing import Literal, NamedTuple, TypeAlias

from scoregate.kernel.types.evaluation import Threshold
from scoregate.kernel.types.records import record

SCHEMA_VERSION = 1
MAX_MESSAGE = 4_000
MAX_TRACEBACK = 16_000
MOST_CHOICES, LONGEST_CHOICE = 100, 200
MOST_TOOLS = 2_000
_LONGEST_NAME = 200
# The type of the error that replaces a score outside [0, 1] of an evaluator without a scale.
NO_SCALE = "NoScale"
# The type of the error of a script that the host stopped before its end.
INTERRUPTED = "Interrupted"
EventType: TypeAlias = Literal[
    "suite_started",
    "case_started",
    "case_output",
    "tool_called",
    "scored",
    "labelled",
    "errored",
    "review_requested",
    "case_finished",
    "suite_finished",
]


@record
class Origin:
    """The place where a suite or a case is defined: a path relative to the repository, and a line, from 1."""

    file: str
    line: int = 1


@record
class SetupPart:
    """A model, a prompt or other arguments of a suite, of which the same evaluation may have several.

    Attributes:
        label: the name that the author gave it; empty without one.
        value: the id of a model, or a digest of a prompt or of arguments; empty if unknown.
        position: its place among the others, from 0.
    """

    label: str = ""
    value: str = ""
    position: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.label[:_LONGEST_NAME])
        object.__setattr__(self, "value", self.value[:_LONGEST_NAME])

    @property
    def name(self) -> str:
        """The label with the value, if both are known and differ."""
        both = self.label and self.value and self.label != self.value
        return f"{self.label} ({self.value})" if both else self.value or self.label


@record
class Setup:
    """What another framework ran a suite with. The suite's counterpart in the baseline is found by it.

    Attributes:
        evaluation: the name of the evaluation or task, the same for all of its models and prompts.
        file: the name of the result file; empty if it changes with every run.
        model: the model, or the provider, that was tested.
        prompt: the prompt, or another variant that the author names.
        arguments: the arguments of the task.
    """

    evaluation: str
    file: str = ""
    model: SetupPart = SetupPart()
    prompt: SetupPart = SetupPart()
    arguments: SetupPart = SetupPart()

    def __post_init__(self) -> None:
        object.__setattr__(self, "evaluation", self.evaluation[:_LONGEST_NAME])
        object.__setattr__(self, "file", self.file[:_LONGEST_NAME])


@record
class SuitePart:
    """The part of a suite's cases that a process runs, if shards divide them.

    Attributes:
        numbers: the numbers of the parts, from 1.
        of: the number of parts of the suite.
        cases: the number of cases in all parts.
        digest: the digest of the hashes of all cases; parts with other digests are not of the same suite.
    """

    numbers: tuple[int, ...]
    of: int
    cases: int
    digest: str


@record
class ListedTool:
    """A tool that an MCP server listed while a suite ran.

    Attributes:
        server: the name of the server.
        name: the name of the tool.
        description: a digest of its title, description and annotations.
        arguments: a digest of the schema of its arguments.
        result: a digest of the schema of its result; empty without one.
    """

    server: str
    name: str
    description: str = ""
    arguments: str = ""
    result: str = ""

    def __post_init__(self) -> None:
        for field in ("server", "name", "description", "arguments", "result"):
            object.__setattr__(self, field, getattr(self, field)[:_LONGEST_NAME])


@record
class Fingerprint:
    """What a score depends on besides the output, to find out whether an evaluator changed.

    Attributes:
        source: the digest of the code.
        prompt: the digest of the prompt.
        parameters: the digest of the parameters.
        model: the name of the model.
        version: the version that the user gave the evaluator.
    """

    source: str | None = None
    prompt: str | None = None
    parameters: str | None = None
    model: str | None = None
    version: str | None = None


@record
class Choice:
    """A score in [0, 1] that a judge may give; `name` is the judge's name for it, if there is one."""

    value: float
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name[:LONGEST_CHOICE])


@record
class EvaluatorInfo:
    """An evaluator in the record.

    Attributes:
        fingerprint: what its scores depend on; None if unknown.
        higher_is_better: whether a higher score is better.
        battles: whether it compares outputs with those of the baseline, which the host must pass to the suite.
        choices: all scores that it can give; empty for any number of scores, more than 100, or scores outside [0, 1].
        boolean: whether its scores in events are `true` and `false`, which count as 1 and 0.
        scale: the lowest and the highest of its scores in events, if they are not in [0, 1].
    """

    id: str
    fingerprint: Fingerprint | None = None
    higher_is_better: bool = True
    battles: bool = False
    choices: tuple[Choice, ...] = ()
    boolean: bool = False
    scale: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if self.scale is not None:
            low, high = self.scale
            object.__setattr__(self, "scale", (low, high) if low < high and isfinite(high - low) else None)
        is_valid = len(self.choices) <= MOST_CHOICES and all(0 <= choice.value <= 1 for choice in self.choices)
        object.__setattr__(self, "choices", self.choices if is_valid else ())


@record
class ErrorInfo:
    """An exception as data; `advice` is what the user can do, empty if unknown."""

    type: str
    message: str
    traceback: str = ""
    advice: str = ""


def truncate_text(text: str, limit: int) -> str:
    """The start and the end of a text, about `limit` characters in all."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n… {len(text) - limit:,} characters left out …\n{text[-half:]}"


@record
class PairwiseComparison:
    """Two outputs of one case; people decide which is better.

    Attributes:
        baseline: the current output.
        challenger: the new output.
        rubric: the criteria of the decision.
        threshold: the range in which the challenger's score passes (1: it wins, 0.5: a tie, 0: it loses).
    """

    baseline: str
    challenger: str
    rubric: str | None = None
    threshold: Threshold | None = None


class HumanReviewFieldContentType(StrEnum):
    """How a reviewer sees a field."""

    TEXT = "text"
    LINK = "link"
    MARKDOWN = "markdown"
    HTML = "html"


@dataclass(frozen=True)
class HumanReviewField:
    """One field of a test case or output, as a reviewer sees it.

    Raises:
        TypeError: the name or the value is not a string.
        ValueError: there is no such type of content.
    """

    name: str
    value: str
    content_type: HumanReviewFieldContentType = HumanReviewFieldContentType.TEXT

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not isinstance(self.value, str):
            given = f"{self.name!r:.60}, {self.value!r:.60}"
            raise TypeError(f"the name and the value of a HumanReviewField must be strings, not {given}")
        kind = HumanReviewFieldContentType(self.content_type or HumanReviewFieldContentType.TEXT)
        object.__setattr__(self, "content_type", kind)


class Pending(NamedTuple):
    """The result of an evaluator that requests a review by people; the case neither passes nor fails.

    Attributes:
        rubric: the criteria of the review.
        contest: two outputs to compare; None if one output is reviewed.
    """

    rubric: str | None = None
    contest: PairwiseComparison | None = None
