"""Cases of a user's types, given or read from a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar, overload

from scoregate.engine.imports import find_caller_file
from scoregate.errors import InvalidSuite
from scoregate.evals.case import Case
from scoregate.evals.data import read_data
from scoregate.evals.rows import EXPECTED, FIELDS, ID, INPUT, METADATA, Row
from scoregate.kernel.types.records import record

_InputT_co = TypeVar("_InputT_co", covariant=True)
_ExpectedT_co = TypeVar("_ExpectedT_co", covariant=True)
_T = TypeVar("_T")
_U = TypeVar("_U")
_MOST_PROBLEMS = 5


class Dataset(Generic[_InputT_co, _ExpectedT_co]):
    """Cases whose inputs and expected outputs have types, given or read from a file.

    Args:
        cases: the cases.
    """

    def __init__(self, cases: Iterable[Case[_InputT_co, _ExpectedT_co]]) -> None:
        self._cases = cases if isinstance(cases, _FileCases) else list(cases)

    @overload
    @classmethod
    def from_file(cls, path: str | Path, input_type: type[_T], expected_type: type[_U]) -> Dataset[_T, _U]: ...

    @overload
    @classmethod
    def from_file(cls, path: str | Path, input_type: Any, expected_type: Any) -> Dataset[Any, Any]: ...

    @classmethod
    def from_file(cls, path: str | Path, input_type: Any, expected_type: Any) -> Dataset[Any, Any]:
        """The cases of a file, whose inputs and expected outputs are checked, and converted to these types.

        Args:
            path: a path that ends in .csv, .tsv, .json, .jsonl or .yaml, relative to the working directory or to the
                file that calls `evaluate`. It is read when the cases are.
            input_type: the type of inputs: a pydantic model, a dataclass, a `TypedDict`, `str`, …
            expected_type: the same of expected outputs. A case without the field `expected` has none.

        Fields besides those of a `Case` are in its metadata.
        """
        return Dataset(_FileCases(Path(path), input_type, expected_type))

    def __iter__(self) -> Iterator[Case[_InputT_co, _ExpectedT_co]]:
        """The cases.

        Raises:
            InvalidSuite: the file can't be read, or a value isn't of its type.
        """
        return iter(self._cases)


@record
class _FileCases:
    """The cases in a file, read each time."""

    path: Path
    input_type: Any
    expected_type: Any

    def __iter__(self) -> Iterator[Case[Any, Any]]:
        from pydantic import TypeAdapter, ValidationError

        problems = list[str]()
        read_input, read_expected = (
            TypeAdapter(each).validate_python for each in (self.input_type, self.expected_type)
        )
        file = find_caller_file()
        cases = list[Case[Any, Any]]()
        for row in read_data(self.path, file and file.parent, problems):
            read = {INPUT: (read_input, row.input)}
            if row.has_expected:
                read[EXPECTED] = (read_expected, row.expected)
            values = dict[str, Any]()
            for name, (convert, value) in read.items():
                try:
                    values[name] = convert(value)
                except ValidationError as error:
                    first = error.errors(include_url=False, include_input=False)[0]
                    problems.append(f"{row.place}: {'.'.join(map(str, (name, *first['loc'])))}: {first['msg']}")
            if len(values) == len(read):
                cases.append(Case(**values, id=row.fields.get(ID), metadata=_find_metadata(row), tags=row.find_tags()))
        if problems:
            more = f"; and {len(problems) - _MOST_PROBLEMS:,} more" if len(problems) > _MOST_PROBLEMS else ""
            raise InvalidSuite(f"{'; '.join(problems[:_MOST_PROBLEMS])}{more}")
        return iter(cases)


def _find_metadata(row: Row) -> Mapping[str, Any] | None:
    """The metadata of a row with its other fields; None if there is nothing."""
    given = row.fields.get(METADATA)
    others = {name: value for name, value in row.fields.items() if name not in FIELDS}
    if given is not None and not isinstance(given, Mapping):
        raise InvalidSuite(f"{row.place}: its metadata must be a table, not {given!r:.60}")
    return {**others, **(given or {})} or None
