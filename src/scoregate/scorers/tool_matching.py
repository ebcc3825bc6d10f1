"""Match the tool calls of a trajectory with the expected ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scoregate.kernel.types.json_io import to_plain
from scoregate.kernel.types.text import parse_number
from scoregate.kernel.types.trajectory_steps import ToolCall, strip_server
from scoregate.scorers.pattern_search import search_pattern

Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """An expected call; `arguments` is None if any will do."""

    name: str
    arguments: Arguments | Callable[[Arguments], Any] | None = field(default=None)

    def __str__(self) -> str:
        if self.arguments is None or callable(self.arguments):
            return f"{self.name}(…)"
        return str(ToolCall(self.name, self.arguments))


def read_expected(values: Any) -> list[ExpectedCall]:
    """The expected calls.

    Args:
        values: a list of names, of pairs of a name and arguments, or of dicts with `name` and `arguments` (or
            `args`); or a single one.

    Raises:
        TypeError: a value is none of these.
    """
    if isinstance(values, str | Mapping | ToolCall) or not isinstance(values, Sequence) or _is_pair(values):
        values = [values]
    return [_read_call(value) for value in values]


def _is_pair(value: Sequence[Any]) -> bool:
    """Whether it is a name and arguments, and not two calls."""
    if len(value) != 2 or not isinstance(value[0], str) or isinstance(value[1], str | ToolCall):
        return False
    # A call in full has its name and its arguments; arguments alone may include a name.
    return not (isinstance(value[1], Mapping) and "name" in value[1] and {"arguments", "args"} & value[1].keys())


def _read_call(value: Any) -> ExpectedCall:
    if isinstance(value, str):
        return ExpectedCall(value)
    if isinstance(value, ToolCall):
        return ExpectedCall(value.name, _to_plain(value.arguments))
    if isinstance(value, Mapping) and isinstance(value.get("name", value.get("tool")), str):
        arguments = value.get("arguments", value.get("args"))
        name = str(value.get("name", value.get("tool")))
    elif isinstance(value, Sequence) and _is_pair(value):
        name, arguments = value
    else:
        raise TypeError(f"an expected tool call is a name, or has a name and arguments, not {value!r:.80}")
    if arguments is not None and not isinstance(arguments, Mapping) and not callable(arguments):
        raise TypeError(f"the arguments of an expected call of {name!r:.60} must be a dict, not {arguments!r:.60}")
    return ExpectedCall(name, arguments if callable(arguments) or arguments is None else _to_plain(arguments))


def _to_plain(value: Any) -> Any:
    """A value as calls have it after JSON: tuples are lists. Functions stay, since some comparisons call them."""
    if isinstance(value, Mapping):
        return {str(name): _to_plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_to_plain(each) for each in value]
    return value if callable(value) else to_plain(value)


def names_tool(name: str, call: ToolCall) -> bool:
    """Whether a call is one of this tool, by its whole name or without its MCP server."""
    return name in (call.name, strip_server(call.name))


Matcher = Callable[[ExpectedCall, ToolCall], bool]


def make_matcher(args: str | Callable[[Any, Arguments], Any]) -> Matcher:
    """The function that compares an expected call with a call.

    Args:
        args: how arguments are compared; see `tool_calls`.

    Raises:
        ValueError: the way is unknown.
    """
    compare = args if callable(args) else _COMPARISONS.get(args)
    if compare is None:
        raise ValueError(f"args must be one of {', '.join(_COMPARISONS)}, or a function, not {args!r:.60}")

    def matches(expected: ExpectedCall, call: ToolCall) -> bool:
        if not names_tool(expected.name, call):
            return False
        if expected.arguments is None:
            return True
        if callable(expected.arguments):
            return bool(expected.arguments(call.arguments))
        return bool(compare(expected.arguments, call.arguments))

    return matches


def _equal(expected: Any, actual: Any) -> bool:
    return _compare(expected, actual, is_subset=False)


def _subset(expected: Any, actual: Any) -> bool:
    return _compare(expected, actual, is_subset=True)


def _compare(expected: Any, actual: Any, *, is_subset: bool) -> bool:
    if isinstance(expected, dict) and isinstance(actual, dict):
        names = expected.keys() <= actual.keys() if is_subset else expected.keys() == actual.keys()
        return names and all(_compare(value, actual[name], is_subset=is_subset) for name, value in expected.items())
    if isinstance(expected, list) and isinstance(actual, list):
        pairs = zip(expected, actual, strict=False)
        return len(expected) == len(actual) and all(_compare(one, other, is_subset=is_subset) for one, other in pairs)
    numbers = parse_number(expected), parse_number(actual)
    if None not in numbers:
        return numbers[0] == numbers[1]
    return type(expected) is type(actual) and bool(expected == actual)


def _regex(expected: Any, actual: Any) -> bool:
    if isinstance(expected, Mapping):
        return isinstance(actual, Mapping) and all(
            name in actual and _regex(value, actual[name]) for name, value in expected.items()
        )
    if isinstance(expected, str):
        text = actual if isinstance(actual, str) else str(actual)
        return search_pattern(expected, text)
    return _equal(expected, actual)


def _call_each(expected: Any, actual: Any) -> bool:
    if not isinstance(actual, Mapping):
        return False
    return all(
        name in actual and bool(value(actual[name]) if callable(value) else _equal(value, actual[name]))
        for name, value in expected.items()
    )


_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "equal": _equal,
    "subset": _subset,
    "ignore": lambda _expected, _found: True,
    "regex": _regex,
    "callable": _call_each,
}


def match_in_order(expected: Sequence[ExpectedCall], calls: Sequence[ToolCall], matches: Matcher) -> dict[int, int]:
    """The longest common subsequence.

    Returns:
        The position of the call for each matched position of `expected`.
    """
    # Pairs at the start are always part of a longest one. Mostly they are all, and no table is needed.
    start = 0
    while start < min(len(expected), len(calls)) and matches(expected[start], calls[start]):
        start += 1
    matched = {index: index for index in range(start)}
    equal = [[matches(each, call) for call in calls[start:]] for each in expected[start:]]
    rows, columns = len(expected) - start, len(calls) - start
    table = [[0] * (columns + 1) for _ in range(rows + 1)]
    for one in range(rows - 1, -1, -1):
        for other in range(columns - 1, -1, -1):
            table[one][other] = (
                1 + table[one + 1][other + 1]
                if equal[one][other]
                else max(table[one + 1][other], table[one][other + 1])
            )
    one, other = 0, 0
    while one < rows and other < columns:
        if equal[one][other]:
            matched[start + one] = start + other
            one, other = one + 1, other + 1
        elif table[one + 1][other] >= table[one][other + 1]:
            one += 1
        else:
            other += 1
    return matched


def match_any_order(expected: Sequence[ExpectedCall], calls: Sequence[ToolCall], matches: Matcher) -> dict[int, int]:
    """A largest matching, by augmenting paths: each call is used at most once.

    Returns:
        The position of the call for each matched position of `expected`.
    """
    options = [[other for other, call in enumerate(calls) if matches(each, call)] for each in expected]
    owner: dict[int, int] = {}

    def find_place(start: int) -> None:
        """Give `start` a call, and move others to other calls if need be. Breadth first: it never recurses."""
        reached_from: dict[int, int] = {}
        queue = [start]
        for one in queue:
            for other in options[one]:
                if other in reached_from:
                    continue
                reached_from[other] = one
                if other in owner:
                    queue.append(owner[other])
                    continue
                place: int | None = other
                while place is not None:
                    holder = reached_from[place]
                    earlier = next((each for each, held_by in owner.items() if held_by == holder), None)
                    owner[place] = holder
                    if earlier is not None:
                        del owner[earlier]
                    place = earlier
                return

    for one in range(len(expected)):
        find_place(one)
    return {one: other for other, one in owner.items()}
