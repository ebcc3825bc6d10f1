"""What crosses between the host and a worker: parts as JSON, and launch events as lists of plain values."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import from_json, to_json

from scoregate.errors import InvalidEvent
from scoregate.kernel.run.launch import (
    EventsReceived,
    Failed,
    Filtered,
    Finished,
    LaunchEvent,
    MediaReceived,
    Notice,
    Printed,
    Progress,
    Started,
)
from scoregate.kernel.run.plan import Launch
from scoregate.kernel.types.event_json import parse_event, parse_events
from scoregate.kernel.types.json_io import MAX_EVENT_BYTES, dump_event
from scoregate.kernel.types.media import MOST_BYTES, MediaFile, find_type
from scoregate.kernel.types.records import record

_EVENTS, _MEDIA = "EventsReceived", "MediaReceived"
_TYPES = {each.__name__: each for each in (Started, Progress, Printed, Notice, Filtered, Failed, Finished)}
_MOST_EVENTS = 1_000_000
HOST_PYTHON = "<python of scoregate>"


@record
class PartOrder:
    """What a worker needs to run a part.

    Attributes:
        attempt: the name of this attempt, unique in all runs.
        tree: the digest of the project's files.
        root: the project's folder on the host, which the worker's replaces.
        launches: what to run.
        files: the contents of files by the host's path, which the worker's paths replace.
        timeout_s: the limit of a script's duration.
        suites: globs of the suites in result files.
        hidden: names of variables that suites must not get.
        spent: the file in which the processes of all workers add up their costs; empty if they share no files.
        asks_for_calls: whether calls of models need a permit of the host.
    """

    attempt: str
    tree: str
    root: str
    launches: tuple[Launch, ...]
    files: Mapping[str, bytes]
    timeout_s: float
    suites: tuple[str, ...]
    hidden: tuple[str, ...]
    spent: str = ""
    asks_for_calls: bool = False


@cache
def _adapter(type_: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(type_)


def dump_order(order: PartOrder) -> dict[str, Any]:
    """The order as JSON, and the contents of its files."""
    launches = [replace(launch, source=replace(launch.source, gates=None)) for launch in order.launches]
    plain = to_json(replace(order, launches=tuple(launches), files={}))
    return {"order": plain, "files": dict(order.files)}


def load_order(message: Mapping[str, Any]) -> PartOrder:
    """The order that `dump_order` dumped."""
    order: PartOrder = _adapter(PartOrder).validate_python({**from_json(message["order"]), "files": {}})
    return replace(order, files=message["files"])


def move_launch(launch: Launch, host_root: str, root: Path, files: Mapping[str, str]) -> Launch:
    """The launch with the paths of the machine that runs it.

    Args:
        launch: the launch.
        host_root: the project's folder on the host.
        root: the project's folder here.
        files: the paths of files here, by their path on the host.
    """

    def move(text: str) -> str:
        if text in files:
            return files[text]
        folders = text.split(os.pathsep)
        return os.pathsep.join(_move_path(each, host_root, root) for each in folders)

    argv = tuple(sys.executable if each == HOST_PYTHON else _move_path(each, host_root, root) for each in launch.argv)
    environment = {name: move(value) for name, value in launch.environment.items()}
    return replace(launch, argv=argv, cwd=Path(_move_path(str(launch.cwd), host_root, root)), environment=environment)


def _move_path(text: str, host_root: str, root: Path) -> str:
    if text == host_root:
        return str(root)
    return str(root / text.removeprefix(f"{host_root}/")) if text.startswith(f"{host_root}/") else text


def encode_event(event: LaunchEvent) -> list[Any]:
    """The event as plain values."""
    if isinstance(event, MediaReceived):
        return [_MEDIA, event.script, event.file.data]
    if isinstance(event, EventsReceived):
        array = b"[%b]" % b",".join(map(dump_event, event.events))
        return [_EVENTS, event.script, event.log, array, len(event.events)]
    return [type(event).__name__, to_json(event)]


def decode_event(values: object) -> LaunchEvent:
    """Parse what a worker sent as an event. It is validated, because suites run as the worker's user.

    Raises:
        ValueError: it is not an event.
    """
    if not isinstance(values, Sequence) or not values or not isinstance(values[0], str):
        raise ValueError("not a list with a name")
    if values[0] == _EVENTS:
        return _decode_events(*values[1:])
    if values[0] == _MEDIA:
        return _decode_media(*values[1:])
    if values[0] not in _TYPES or len(values) != 2 or not isinstance(values[1], bytes):
        raise ValueError(f"{values[0]!r:.40} is not an event")
    if len(values[1]) > MAX_EVENT_BYTES:
        raise ValueError(f"an event has {len(values[1]):,} bytes")
    event: LaunchEvent = _adapter(_TYPES[values[0]]).validate_json(values[1])
    return event


def _decode_media(script: object = None, data: object = None) -> LaunchEvent:
    if not (isinstance(script, str) and isinstance(data, bytes) and len(data) <= MOST_BYTES):
        raise ValueError("its image or recording has no script, or no valid content")
    if (kind := find_type(data)) is None:
        raise ValueError("its image or recording is of no known type")
    return MediaReceived(script, MediaFile(kind, data))


def _decode_events(
    script: object = None, log: object = None, array: object = None, count: object = None
) -> LaunchEvent:
    if not (isinstance(script, str) and isinstance(log, str) and isinstance(array, bytes) and isinstance(count, int)):
        raise ValueError("its events have no script or log")
    if not 0 <= count <= _MOST_EVENTS:
        raise ValueError("its events have no valid number")
    events = parse_events(array, count)
    if events is None:
        try:
            lines = from_json(array)
            events = [parse_event(json.dumps(line).encode()) for line in lines]
        except (TypeError, InvalidEvent) as error:
            raise ValueError(f"its events can't be read: {error}") from None
    return EventsReceived(script, log, events)
