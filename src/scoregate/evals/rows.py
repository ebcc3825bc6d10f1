"""The rows of a suite: one case each, with its fields, its identity and its place in the data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property
from typing import Any
from zlib import crc32

from scoregate.engine.fingerprint import digest
from scoregate.errors import NotRecordable
from scoregate.evals.case import Case as GivenCase
from scoregate.kernel.types.json_io import dump, to_stable_plain
from scoregate.kernel.types.media import show_references, without_names
from scoregate.kernel.types.suite import Case, Description
from scoregate.kernel.types.text import LONGEST_NAME, case_name

INPUT, EXPECTED, METADATA, TAGS, ID = "input", "expected", "metadata", "tags", "id"
# Names of the same fields in other frameworks.
_OTHER_NAMES = {INPUT: "inputs", EXPECTED: "expected_output"}
INPUTS = (INPUT, _OTHER_NAMES[INPUT])
_EXPECTED = (EXPECTED, _OTHER_NAMES[EXPECTED])
# JSON without it has no image and no audio.
_MEDIA = '"sha256:'
_TOOL, _ARGUMENTS = "tool", "arguments"
_NO_INPUT = {*_EXPECTED, METADATA, TAGS, ID}
FIELDS = {*INPUTS, *_NO_INPUT}


@dataclass(frozen=True)
class Row:
    """One case.

    Attributes:
        case: the item of the data, as it was given.
        fields: the fields of the item by name; for a plain value only `input`.
        place: where the item is in the data, for messages.
        item_id: the id of the item in a stored dataset.
    """

    case: Any
    fields: Mapping[str, Any] = field(repr=False)
    place: str
    item_id: str | None = None

    @property
    def has_input(self) -> bool:
        """Whether it has the field `input`, or `inputs`."""
        return any(name in self.fields for name in INPUTS)

    @property
    def has_expected(self) -> bool:
        """Whether it has the field `expected`, or `expected_output`."""
        return any(name in self.fields for name in _EXPECTED)

    @cached_property
    def input(self) -> Any:
        """The field `input`; without one, all fields except `expected`, `metadata`, `tags` and `id`."""
        for name in INPUTS:
            if name in self.fields:
                return self.fields[name]
        return {name: value for name, value in self.fields.items() if name not in _NO_INPUT}

    @property
    def expected(self) -> Any:
        """The field `expected`, or `expected_output`; None without one."""
        return self.fields.get(EXPECTED, self.fields.get(_OTHER_NAMES[EXPECTED]))

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The field `metadata`; empty if it is no mapping."""
        given = self.fields.get(METADATA)
        return given if isinstance(given, Mapping) else {}

    def find_hash(self) -> str:
        """The id of the case: the field `id`, otherwise a digest of the input.

        Raises:
            ValueError: the id is empty, or neither a text nor a whole number.
        """
        given = self.fields.get(ID)
        if given is None:
            plain = to_stable_plain(self.input)
            text = json.dumps(plain, sort_keys=True)
            return digest(json.dumps(without_names(plain), sort_keys=True) if _MEDIA in text else text)
        if isinstance(given, bool) or not isinstance(given, str | int) or not str(given).strip():
            raise ValueError(f"its id must be a text or a whole number, not {given!r:.60}")
        return str(given)

    def find_tags(self) -> tuple[str, ...]:
        """The field `tags`: a list of texts, or one text with commas.

        Raises:
            ValueError: it is something else.
        """
        given = self.fields.get(TAGS) or ()
        names = given.split(",") if isinstance(given, str) else given
        if not isinstance(names, list | tuple | set | frozenset) or not all(isinstance(name, str) for name in names):
            raise ValueError(f"its tags must be a list of texts, not {given!r:.60}")
        tags = (name.strip() for name in (sorted(names) if isinstance(names, set | frozenset) else names))
        return tuple(dict.fromkeys(name for name in tags if name))


def make_row(item: Any, place: str) -> Row:
    """The row of an item: a mapping, a dataclass, a pydantic model, a named tuple, or any other value as input.

    Raises:
        ValueError: a field has no text as its name, there is no field, or the item is a case of pydantic_evals with
            evaluators of its own.
    """
    values = _read_fields(item)
    if is_pydantic_evals_object(item) and getattr(item, "evaluators", None):
        raise ValueError("it has evaluators of its own, which are not run: give them as scorers of all cases")
    if values is None:
        return Row(item, {INPUT: item}, place)
    if not values:
        raise ValueError("it has no fields")
    if unnamed := [name for name in values if not isinstance(name, str)]:
        raise ValueError(f"the names of its fields must be texts, not {unnamed[0]!r:.60}")
    return Row(item, values, place)


def is_pydantic_evals_object(value: object) -> bool:
    """Whether a class of pydantic_evals, or a class derived from one, made an object. The package is not imported."""
    return any(base.__module__.partition(".")[0] == "pydantic_evals" for base in type(value).__mro__)


def _read_fields(item: Any) -> dict[Any, Any] | None:
    """The fields of an item; None if it is a plain value."""
    if isinstance(item, GivenCase):
        item = item.read_fields()
    if isinstance(item, Mapping):
        return dict(item)
    if isinstance(item, type):
        return None
    if is_dataclass(item):
        return {each.name: getattr(item, each.name) for each in fields(item)}
    if isinstance(names := getattr(type(item), "model_fields", None), Mapping):
        return {name: getattr(item, name) for name in names}
    if isinstance(item, tuple) and hasattr(item, "_asdict"):
        return dict(item._asdict())
    return None


@dataclass(frozen=True, slots=True)
class Cases:
    """The cases of a suite.

    Args:
        repeats: the number of trials of each case.
        tags: tags of all cases.
        cluster: the field, maybe of the metadata, whose value names the group of related cases.
    """

    repeats: int = 1
    tags: tuple[str, ...] = ()
    cluster: str | None = None

    def build(self, rows: Iterable[Row], problems: list[str]) -> Iterator[Case]:
        """The case of each row, with a problem for each row that can't run."""
        places: dict[str, str] = {}
        for row in rows:
            try:
                case_hash = row.find_hash()
                row.find_tags()
                self._find_cluster(row)
            except Exception as error:  # fields of the user's classes may raise anything
                problems.append(f"{row.place}: {error}")
                continue
            if case_hash in places:
                shared = f"the id {case_hash!r:.60}" if row.fields.get(ID) is not None else "the input"
                problems.append(
                    f"{row.place} is left out: it has {shared} of {places[case_hash]}; "
                    "give each case its own `id`, or use `repeats` to run a case several times"
                )
            else:
                places[case_hash] = row.place
                yield Case(case_hash, row, self.repeats)

    def describe(self, case: Case) -> Description:
        """The case as the record shows it. A value without a JSON form becomes its type in angle brackets.

        Raises:
            NotRecordable: the case contains itself, or has too many levels.
        """
        row: Row = case.value
        try:
            body = to_stable_plain({name: value for name, value in row.fields.items() if name != TAGS})
        except ValueError as error:
            raise NotRecordable("the case", error) from None
        written, shown = dump(body), body
        if _MEDIA in written.decode():
            written, shown = dump(without_names(body)), show_references(body)
        name = case_name(case.hash, _select_name_fields(shown)) or dump(shown.get(INPUT, shown)).decode()[:LONGEST_NAME]
        tags = tuple(dict.fromkeys((*self.tags, *row.find_tags())))
        return Description(
            name, body, f"{crc32(written):08x}", tags, self._find_cluster(row), dataset_item_id=row.item_id
        )

    def _find_cluster(self, row: Row) -> str | None:
        if self.cluster is None:
            return None
        value = row.fields.get(self.cluster, row.metadata.get(self.cluster))
        if value is None:
            return None
        if not isinstance(value, str | int) or isinstance(value, bool):
            raise ValueError(f"its field {self.cluster!r:.60} names a cluster and must be a text, not {value!r:.60}")
        return str(value)


def _select_name_fields(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields that may name a case: its input, and not what is expected. A tool is named with its arguments."""
    if body.get(INPUT) is not None:
        return {INPUT: body[INPUT]}
    named = {name: value for name, value in body.items() if name not in (*_EXPECTED, METADATA)}
    if isinstance(tool := named.get(_TOOL), str) and isinstance(arguments := named.get(_ARGUMENTS), Mapping):
        return {_TOOL: f"{tool} {dump(arguments).decode()}"}
    return named
