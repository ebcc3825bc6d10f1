"""LangSmith: runs, as `client.list_runs` gives them, and as its bulk export and its page write them.

Source: docs.langchain.com/langsmith/run-data-format; `langsmith.schemas.Run` of langsmith 0.15.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scoregate.kernel.types.trace import Span
from scoregate.trace_files.parts import (
    CHAT,
    TOOL,
    Details,
    TracePart,
    as_mapping,
    first,
    make_attributes,
    read_number,
    read_scalar,
    read_tags,
    read_text,
    read_time,
    require_id,
)
from scoregate.trace_files.values import find_answer_messages, find_request_messages, parse_json

NAME = "langsmith"
_KINDS = {"llm": CHAT, "tool": TOOL}
_SESSIONS = ("session_id", "thread_id", "conversation_id")
_MODELS = ("ls_model_name", "model_name", "model")
_MOST_LEVELS = 100


def matches(row: Mapping[str, Any]) -> bool:
    """Whether a record is a run."""
    return "run_type" in row and "id" in row


def read(row: Mapping[str, Any], depth: int = 0) -> Iterator[TracePart]:
    """The parts of a run, and of the runs below it if they are in `child_runs`.

    Raises:
        UnknownRecord: a field is missing, or has another type.
    """
    yield _read_run(row)
    children = parse_json(row.get("child_runs"))
    for child in children if isinstance(children, list) and depth < _MOST_LEVELS else ():
        if isinstance(child, Mapping):
            yield from read({"trace_id": first(row, "trace_id", "id"), "parent_run_id": row["id"], **child}, depth + 1)


def _read_run(row: Mapping[str, Any]) -> TracePart:
    name, kind = read_text(row.get("name")), _KINDS.get(str(row.get("run_type")), "")
    given, result = parse_json(first(row, "inputs")), parse_json(first(row, "outputs"))
    sides = (given, result)
    if kind == CHAT:
        sides = (find_request_messages(given), find_answer_messages(result))
    elif kind == TOOL:
        sides = (_read_arguments(given), _read_result(result))
    error = read_text(row.get("error"))
    span = Span(
        require_id(row, "id"),
        name,
        _find_parent(row),
        read_time(row.get("start_time")),
        read_time(row.get("end_time")),
        attributes=make_attributes(kind, name, *sides),
        error=error or ("error" if row.get("status") == "error" else None),
    )
    metadata = as_mapping(as_mapping(parse_json(row.get("extra"))).get("metadata"))
    scores = as_mapping(parse_json(row.get("feedback_stats")))
    details = Details(
        session=read_scalar(first(metadata, *_SESSIONS)),
        user=read_scalar(first(metadata, "user_id")),
        model=read_scalar(first(metadata, *_MODELS)) if kind == CHAT else "",
        tokens=read_number(row.get("total_tokens")) if kind == CHAT else None,
        cost=read_number(row.get("total_cost")) if kind == CHAT else None,
        tags=read_tags(parse_json(row.get("tags"))),
        scores={str(key): as_mapping(each).get("avg", each) for key, each in scores.items()},
        metadata=metadata,
    )
    return TracePart(require_id(row, "trace_id", "id"), span, given, result, details=details)


def _find_parent(row: Mapping[str, Any]) -> str:
    """The id of the parent, which some exports have in `dotted_order` only."""
    if parent := read_text(row.get("parent_run_id")):
        return parent
    above = str(row.get("dotted_order") or "").split(".")[:-1]
    return above[-1].partition("Z")[2] if above else ""  # each part is a time up to Z, then the id of a run


def _read_arguments(given: Any) -> Any:
    """The arguments of a tool; LangChain's tools have them as a text in the field `input`."""
    return parse_json(given["input"]) if isinstance(given, Mapping) and set(given) == {"input"} else given


def _read_result(result: Any) -> Any:
    return result["output"] if isinstance(result, Mapping) and set(result) == {"output"} else result
