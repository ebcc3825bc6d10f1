"""The base of scorers: a function with settings, and the wrapper that gives settings to a function of the user."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from math import isnan
from typing import TYPE_CHECKING, Any, TypeVar, overload

from scoregate.errors import MissingExtra
from scoregate.grading.grade import PASS_AT_ONE
from scoregate.kernel.types.evaluation import Evaluation, Scale, Threshold
from scoregate.scorers.output_texts import EXPECTED, read_output, read_text, select_field

if TYPE_CHECKING:
    from scoregate.kernel.types.trajectories.trajectory import Trajectory

NO_TRAJECTORY = (
    "{name} needs a trajectory, and nothing of this case was recorded: return a Trajectory from the task, call models "
    "through a wrapped client, or install opentelemetry-sdk"
)

_Function = TypeVar("_Function", bound=Callable[..., Any])
_TAKES_NONE = ("equals", "json_equals")


@dataclass(frozen=True, slots=True)
class Values:
    """What a check compares.

    Attributes:
        output: the output of the task.
        expected: the expected output of the case.
        duration_s: how long the task took, in seconds.
        field: the path of the field that is compared; None is the whole output.
    """

    output: Any
    expected: Any
    duration_s: float
    field: str | None = None

    def read_output(self, check: str) -> str:
        """The text of the output, or of its field.

        Raises:
            ValueError: it is not a text.
        """
        return read_output(self.output, self.field, check)

    def read_expected(self, given: Any, check: str) -> str:
        """The text that the output is compared with.

        Raises:
            ValueError: there is none.
        """
        return read_text(find_expected(self, given, check), check, EXPECTED)


@dataclass(frozen=True)
class Check:
    """A scorer without a model. `evaluate` calls it; in a test of your own it can be called, too.

    Attributes:
        name: the scorer's name in the record.
        check: computes the score from the values and the parameters.
        parameters: what the score depends on besides the values. `field` is the path of the field that is compared.
        threshold: where a score passes; None leaves it to the check.
        higher_is_better: the direction for comparisons.
        version: a number that changes with the meaning of the scores.
    """

    name: str
    check: Callable[..., Evaluation | None]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    threshold: Threshold | float | None = None
    higher_is_better: bool = True
    version: int = 1

    def __call__(self, output: Any, expected: Any = None, duration_s: float = 0.0) -> Evaluation | None:
        """Score an output.

        Args:
            output: the output of the task.
            expected: the expected output of the case.
            duration_s: how long the task took, in seconds.
        """
        parameters = dict(self.parameters)
        return self.check(Values(output, expected, duration_s, parameters.pop("field", None)), **parameters)


def pass_or_fail(passed: bool, reason: str) -> Evaluation:
    """The evaluation of a yes/no check. A failed one has its reason."""
    return Evaluation(float(passed), PASS_AT_ONE, None if passed else {"reason": reason})


def require_all_steps(trajectory: Trajectory, name: str, steps: str) -> None:
    """Check that a trajectory has all its steps.

    Args:
        trajectory: what the agent did.
        name: the name of the scorer, for the error.
        steps: what the scorer needs: "steps" or "tool calls".

    Raises:
        ValueError: some may be missing.
    """
    left_out = f"{trajectory.left_out:,} steps were not recorded" if trajectory.left_out else ""
    if reason := trajectory.incomplete or left_out:
        raise ValueError(f"{name} needs all {steps}, and some may be missing: {reason}")


def read_argument(expected: Any) -> dict[str, Any]:
    """The parameters of a check that may compare with None, which differs from no argument: `...`."""
    # Fingerprints contain the parameters, so a check without an argument keeps its own.
    return (
        {"expected": None, "expects_none": True}
        if expected is None
        else {"expected": None if expected is ... else expected}
    )


def find_expected(values: Values, given: Any, check: str) -> Any:
    """What the output is compared with: the argument of the check, otherwise the case's `expected`.

    Of an expected object, the field is compared that is compared of the output.

    Raises:
        ValueError: there is neither. NaN is what pandas has for an empty cell.
    """
    expected = values.expected if given is None else given
    # pandas has NaN for an empty cell.
    if expected is None or (isinstance(expected, float) and isnan(expected)):
        none = f", such as {check}(None)" if check in _TAKES_NONE else ""
        raise ValueError(f"{check} compares with `expected`, which this case lacks; add it, or write {check}(…){none}")
    if given is None and values.field is not None and isinstance(expected, Mapping):
        return select_field(expected, values.field, EXPECTED)
    return expected


def check_length(text: str, most: int, check: str) -> None:
    """Check that a text is short enough to be compared in a bounded time.

    Raises:
        ValueError: it is longer.
    """
    if len(text) > most:
        raise ValueError(f"{check} takes texts of up to {most:,} characters, and this one has {len(text):,}")


def import_extra(module: str, needed_by: str, *, extra: str, package: str = "") -> Any:
    """Import a module of a package that the base installation lacks.

    Args:
        module: the module, such as "sacrebleu.metrics".
        needed_by: the scorers that use it, with their verb: "bleu needs".
        extra: the extra of scoregate that installs the package.
        package: the name of the package; default: the first part of the module's name.

    Raises:
        MissingExtra: the package is not installed.
    """
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtra(
            f"{needed_by} the package {package or module.partition('.')[0]}, which is not installed",
            advice=f"Run: pip install 'scoregate[{extra}]'",
        ) from None


class WrappedScorer:
    """A function of the user with settings, made by `scorer`. It is called like the function."""

    def __init__(
        self,
        function: Callable[..., Any],
        name: str | None,
        threshold: Threshold | float | None,
        scale: Scale | None,
        higher_is_better: bool,
        max_concurrency: int,
    ) -> None:
        self.scored_function = function
        self.name = name
        self.threshold = threshold
        self.scale = scale
        self.higher_is_better = higher_is_better
        self.max_concurrency = max_concurrency

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        return self.scored_function(*args, **kwargs)


@overload
def scorer(
    function: _Function,
    *,
    name: str | None = ...,
    threshold: Threshold | float | None = ...,
    scale: tuple[float, float] | None = ...,
    higher_is_better: bool = ...,
    max_concurrency: int = ...,
) -> _Function: ...


@overload
def scorer(
    function: None = None,
    *,
    name: str | None = ...,
    threshold: Threshold | float | None = ...,
    scale: tuple[float, float] | None = ...,
    higher_is_better: bool = ...,
    max_concurrency: int = ...,
) -> Callable[[_Function], _Function]: ...


def scorer(
    function: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    threshold: Threshold | float | None = None,
    scale: tuple[float, float] | None = None,
    higher_is_better: bool = True,
    max_concurrency: int = 10,
) -> Any:
    """Give settings to a scorer: `scorer(count_words, scale=(0, 500), threshold=20)`, or as a decorator.

    Args:
        function: the scorer; without one, the result is a decorator.
        name: the scorer's name in the record; default: that of the function.
        threshold: the score at or above which a case passes, on the scale; a `Threshold` for other ranges.
        scale: the lowest and the highest score, for numbers that are not from 0 to 1.
        higher_is_better: False if a lower score is better. Then a case passes at or below the threshold.
        max_concurrency: how many calls run at once.

    Returns:
        A `WrappedScorer`, or a decorator that makes one. To type checkers it is the function, whose calls it takes.

    Raises:
        TypeError: the function is not callable.
        ValueError: the scale does not go up.
    """

    def wrap(wrapped: Callable[..., Any]) -> WrappedScorer:
        if not callable(wrapped):
            raise TypeError(f"a scorer must be callable, not {wrapped!r:.100}")
        bounds = None if scale is None else Scale(*map(float, scale))
        return WrappedScorer(wrapped, name, threshold, bounds, higher_is_better, max_concurrency)

    return wrap if function is None else wrap(function)
