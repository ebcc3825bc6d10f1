"""Launch scripts as child processes, and emit what happens."""

from scoregate.ci.launch.events import (
    EmitEvent,
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
    TracesReceived,
    UsageCounted,
)
from scoregate.ci.launch.process import Host, MakeEnvironment, OpenConnection, launch_all
from scoregate.ci.launch.result_files import ReadResultFile

__all__ = [
    "EmitEvent",
    "EventsReceived",
    "Failed",
    "Filtered",
    "Finished",
    "Host",
    "LaunchEvent",
    "MakeEnvironment",
    "MediaReceived",
    "Notice",
    "OpenConnection",
    "Printed",
    "Progress",
    "ReadResultFile",
    "Started",
    "TracesReceived",
    "UsageCounted",
    "launch_all",
]
