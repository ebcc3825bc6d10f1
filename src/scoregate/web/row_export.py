"""Reviews of rows by people elsewhere: a file of JSON lines to fill in, imported completely or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scoregate.errors import UsageError
from scoregate.store.candidates import Candidate, digest_row
from scoregate.store.json_lines import encode_row

_SOURCE = "source"
_MAX_PROBLEMS = 20


class RowLine(BaseModel):
    """A row and, at its end, fields to fill in; `decision` is keep or drop. All but `source` may be corrected."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["row"] = "row"
    dataset: str
    key: str
    row: dict[str, Any]
    decision: str = Field(default="", pattern="^(keep|drop|)$")
    comment: Annotated[str, Field(max_length=10_000)] = ""
    by: str = ""


@dataclass(slots=True)
class ImportedRows:
    """The decisions in a file, and the number of lines without a new decision.

    Attributes:
        decided: the candidates with their decisions.
        unchanged: lines whose decision is known.
        empty: lines without a decision.
    """

    decided: list[Candidate] = field(default_factory=list)
    unchanged: int = 0
    empty: int = 0


def format_rows(dataset: str, candidates: Iterable[Candidate]) -> Iterator[str]:
    """Format the lines of an export."""
    for each in candidates:
        yield encode_row(RowLine(dataset=dataset, key=each.id, row=each.row).model_dump()).decode() + "\n"


def parse_rows(
    data: bytes,
    dataset: str,
    candidates: Iterable[Candidate],
    *,
    origin: str,
    by: str,
    check: Callable[[Mapping[str, Any]], str],
) -> ImportedRows:
    """Parse the decisions in a file.

    Args:
        data: the content of the file.
        dataset: the name of the dataset.
        candidates: all candidates of the dataset.
        origin: the name of the file, for messages.
        by: the reviewer of lines without a name.
        check: says what keeps a row out of the dataset.

    Raises:
        UsageError: lines are invalid; the message lists them.
    """
    known = {each.id: each for each in candidates}
    imported, problems, seen = ImportedRows(), list[str](), dict[str, int]()
    # Windows editors put a byte order mark before the first line.
    for number, text in enumerate(data.removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
        if not text.strip():
            continue
        try:
            line = _parse_line(text, dataset)
            if seen.setdefault(line.key, number) != number:
                raise ValueError(f"key: line {seen[line.key]} has the same row")
            _add_decision(imported, line, known, by=by, check=check)
        except ValueError as error:
            problems.append(f"{origin}:{number}: {error}")
    if problems:
        more = [f"and {len(problems) - _MAX_PROBLEMS} more"] if len(problems) > _MAX_PROBLEMS else []
        raise UsageError("\n".join([*problems[:_MAX_PROBLEMS], *more]), advice="Nothing was imported.")
    return imported


def _parse_line(text: bytes, dataset: str) -> RowLine:
    try:
        line = RowLine.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise ValueError(f"{'.'.join(map(str, first['loc'])) or 'line'}: {first['msg']}") from None
    if line.dataset != dataset:
        raise ValueError(f"dataset: the row is of {line.dataset!r:.60}, not of {dataset!r:.60}")
    return line


def _add_decision(
    imported: ImportedRows,
    line: RowLine,
    known: Mapping[str, Candidate],
    *,
    by: str,
    check: Callable[[Mapping[str, Any]], str],
) -> None:
    if not line.decision:
        imported.empty += 1
        return
    name = line.by.strip() or by
    if not name:
        raise ValueError("by: the reviewer is missing; fill it in, or use --by")
    candidate = known.get(line.key)
    if candidate is None:
        raise ValueError(f"key: no row {line.key!r:.40} was added to this dataset")
    if candidate.decision:
        _check_repetition(line, candidate)
        imported.unchanged += 1
        return
    if line.row.get(_SOURCE) != candidate.row.get(_SOURCE):
        raise ValueError("row: its source differs from the export; only the other columns may be corrected")
    if line.decision == "keep" and (problem := check(line.row)):
        raise ValueError(f"row: {problem}")
    changes = {"decision": line.decision, "by": name, "comment": line.comment, "row": line.row}
    imported.decided.append(candidate.model_copy(update=changes))


def _check_repetition(line: RowLine, candidate: Candidate) -> None:
    """Check that a line says of a decided row what was decided.

    Raises:
        ValueError: it says something else, which would be lost.
    """
    if candidate.in_dataset:
        is_same, advice = digest_row(line.row) == candidate.kept_digest, "edit the dataset"
        if line.decision == "drop":
            raise ValueError("decision: the row is in the dataset already; delete it in its file")
    else:
        is_same, advice = line.row == candidate.row, "remove the decision on the page, then import"
    if line.decision != candidate.decision:
        raise ValueError(f"decision: {candidate.by!r:.60} decided {candidate.decision} already; to change it, {advice}")
    if not is_same:
        raise ValueError(f"row: it was decided already, and its content differs from that; {advice} instead")
    if line.comment not in ("", candidate.comment):
        raise ValueError("comment: the row was decided already with another comment; leave it empty")
