"""Read `.scoregate/accepted.toml` and `.scoregate/quarantine.toml`; every problem is reported with its line."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

from scoregate.errors import SettingsError
from scoregate.kernel.host.file_access import read_project_file
from scoregate.kernel.types.exemptions import STABLE_RUNS, AcceptedRegression, QuarantinedCases
from scoregate.kernel.types.records import record
from scoregate.kernel.types.text import parse_number
from scoregate.kernel.types.toml_lines import find_line

ACCEPTED_FILE, QUARANTINE_FILE = ".scoregate/accepted.toml", ".scoregate/quarantine.toml"
ACCEPTED, QUARANTINE = "accepted", "quarantine"
LARGEST_FILE = 1_000_000
MOST_ENTRIES = 1_000
LONGEST_TEXT = 500
_MOST_TAGS = 50
_MOST_RUNS = 1_000
_MOST_PROBLEMS = 10
_T = TypeVar("_T")


@record
class ExemptionFiles:
    """The entries of both files.

    Args:
        accepted: the accepted regressions.
        quarantined: the entries of the quarantine.
    """

    accepted: tuple[AcceptedRegression, ...] = ()
    quarantined: tuple[QuarantinedCases, ...] = ()


def read_files(root: Path) -> ExemptionFiles:
    """Read both files of a project; a missing file has no entries.

    Raises:
        SettingsError: a file can't be read, or an entry is not valid.
    """
    return parse_files(read_content(root, ACCEPTED_FILE), read_content(root, QUARANTINE_FILE))


def has_files(root: Path) -> bool:
    """Whether a project has one of the files."""
    return any((root / name).exists() for name in (ACCEPTED_FILE, QUARANTINE_FILE))


def read_content(root: Path, name: str) -> bytes | None:
    """The content of one of the files; None without it.

    Raises:
        SettingsError: it can't be read.
    """
    try:
        return read_project_file(root / name, LARGEST_FILE + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise SettingsError(f"{name} can't be read: {error.strerror}", advice="Replace it by a file.") from None


def parse_files(accepted: bytes | None, quarantine: bytes | None, *, where: str = "") -> ExemptionFiles:
    """The entries in the contents of both files; None for a missing file.

    Args:
        accepted: the content of `accepted.toml`.
        quarantine: the content of `quarantine.toml`.
        where: follows the names of the files in messages, such as ` of the base`.

    Raises:
        SettingsError: a file is not valid; the message has the line of each problem.
    """
    return ExemptionFiles(
        _parse(accepted, f"{ACCEPTED_FILE}{where}", ACCEPTED, _make_accepted),
        _parse(quarantine, f"{QUARANTINE_FILE}{where}", QUARANTINE, _make_quarantined),
    )


def _parse(content: bytes | None, shown: str, name: str, make: Callable[[_Entry], _T]) -> tuple[_T, ...]:
    if content is None:
        return ()
    if len(content) > LARGEST_FILE:
        raise SettingsError(f"{shown} is larger than {LARGEST_FILE:,} bytes", advice="Remove expired entries.")
    try:
        text = content.decode("utf-8-sig")
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{shown} is not valid TOML: {error}") from None
    problems = [
        f"{_locate(text, shown, (key,))}: unknown key {key!r}; entries are tables [[{name}]]"
        for key in tables
        if key != name
    ]
    rows = tables.get(name, [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        problems.append(f"{_locate(text, shown, (name,))}: {name} must be a list of tables: [[{name}]]")
        rows = []
    if len(rows) > MOST_ENTRIES:
        problems.append(f"{shown}: {len(rows):,} entries, at most {MOST_ENTRIES:,} are possible")
        rows = []
    made = []
    for at, row in enumerate(rows):
        entry = _Entry(row, lambda keys, at=at: _locate(text, shown, (name, str(at), *keys)))  # type: ignore[misc]
        made.append(make(entry))
        problems += entry.list_problems()
    if problems:
        hidden = len(problems) - _MOST_PROBLEMS
        more = [f"… and {hidden:,} more"] if hidden > 0 else []
        advice = "Nothing is accepted or quarantined until the file is valid."
        raise SettingsError("\n".join([*problems[:_MOST_PROBLEMS], *more]), advice=advice)
    return tuple(made)


def _locate(text: str, shown: str, keys: tuple[str, ...]) -> str:
    file, _, where = shown.partition(" ")
    line = find_line(text, keys)
    return f"{file}{'' if line is None else f':{line}'}{f' {where}' if where else ''}"


class _Entry:
    """One table of a file. Reads its fields and collects their problems."""

    def __init__(self, table: Mapping[str, Any], locate: Callable[[tuple[str, ...]], str]) -> None:
        self._table = table
        self._locate = locate
        self._known: set[str] = set()
        self._problems: list[str] = []

    @property
    def place(self) -> str:
        """The file and the line of the entry."""
        return self._locate(())

    def has(self, name: str) -> bool:
        """Whether a field is set."""
        return name in self._table

    def add_problem(self, name: str, problem: str) -> None:
        """Add a problem of a field."""
        self._problems.append(f"{self._locate((name,))}: {problem}")

    def refuse(self, name: str, why: str) -> None:
        """Add a problem if a field is set."""
        self._known.add(name)
        if name in self._table:
            self.add_problem(name, f"`{name}` {why}")

    def text(self, name: str, missing: str = "", default: str = "") -> str:
        """A text on one line that is not empty; `missing` describes a required one."""
        self._known.add(name)
        value = self._table.get(name)
        if value is None:
            if missing:
                self.add_problem(name, f"`{name}` is missing: {missing}")
            return default
        if not isinstance(value, str) or not value.strip() or len(value) > LONGEST_TEXT:
            self.add_problem(name, f"`{name}` must be a text of 1 to {LONGEST_TEXT} characters, not {value!r:.80}")
            return default
        return " ".join(value.split())

    def last_day(self) -> str:
        """The field `until`."""
        self._known.add("until")
        value = self._table.get("until")
        if value is None:
            self.add_problem("until", "`until` is missing: the last day of the entry, such as until = 2026-12-31")
        elif type(value) is not date:  # a datetime is a date, too
            self.add_problem("until", f"`until` must be a date without quotes, such as 2026-12-31, not {value!r:.80}")
        else:
            return value.isoformat()
        return ""

    def drop(self, missing: str) -> float:
        """The field `at_most`."""
        self._known.add("at_most")
        value = self._table.get("at_most")
        if value is None:
            self.add_problem("at_most", f"`at_most` is missing: {missing}")
            return 0.0
        number = parse_number(value)
        if number is None or not 0 < number <= 1:
            self.add_problem("at_most", f"`at_most` must be a number above 0 and at most 1, not {value!r:.80}")
            return 0.0
        return number

    def count(self, name: str, default: int) -> int:
        """A whole number from 2 on."""
        self._known.add(name)
        value = self._table.get(name, default)
        if type(value) is not int or not 2 <= value <= _MOST_RUNS:  # a boolean is an int, too
            self.add_problem(name, f"`{name}` must be a whole number from 2 to {_MOST_RUNS}, not {value!r:.80}")
            return default
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts that is not empty."""
        self._known.add(name)
        value = self._table.get(name)
        if value is None:
            return ()
        is_list = isinstance(value, list) and 0 < len(value) <= _MOST_TAGS
        if not is_list or not all(isinstance(each, str) and 0 < len(each) <= LONGEST_TEXT for each in value):
            self.add_problem(name, f"`{name}` must be a list of 1 to {_MOST_TAGS} texts, not {value!r:.80}")
            return ()
        return tuple(value)

    def list_problems(self) -> Iterator[str]:
        """The problems of the fields, and unknown fields."""
        yield from self._problems
        known = ", ".join(sorted(self._known))
        for name in self._table:
            if name not in self._known:
                yield f"{self._locate((name,))}: unknown field {name!r:.80}; known: {known}"


def _make_accepted(entry: _Entry) -> AcceptedRegression:
    evaluator, case, at_most = "", entry.text("case"), 0.0
    if entry.has("case"):
        for name in ("evaluator", "at_most"):
            entry.refuse(name, "doesn't apply to a `case`; use one entry for each")
    else:
        evaluator = entry.text("evaluator", "a glob of scorers, or `case` for a critical case")
        at_most = entry.drop("the largest accepted drop of the mean score, such as at_most = 0.05")
    return AcceptedRegression(
        suite=entry.text("suite", 'a glob of suites, such as suite = "support-*"'),
        until=entry.last_day(),
        reason=entry.text("reason", "why the regression is accepted"),
        by=entry.text("by", "who accepts it"),
        evaluator=evaluator,
        case=case,
        at_most=at_most,
        issue=entry.text("issue"),
        place=entry.place,
    )


def _make_quarantined(entry: _Entry) -> QuarantinedCases:
    if not entry.has("case") and not entry.has("tags"):
        entry.add_problem("case", "`case` or `tags` is missing: a glob of names of cases, or a list of tags")
    return QuarantinedCases(
        owner=entry.text("owner", "who makes the cases stable again"),
        reason=entry.text("reason", "why the cases are in quarantine"),
        until=entry.last_day(),
        suite=entry.text("suite", default="*"),
        case=entry.text("case"),
        tags=entry.texts("tags"),
        stable_runs=entry.count("stable_runs", STABLE_RUNS),
        place=entry.place,
    )
