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
from scoregate.ci.launch.layer import (
    AroundLaunches,
    CallService,
    Launching,
    LaunchLayer,
    MakeEnvironment,
    count_calls,
    open_layers,
)
from scoregate.ci.launch.process import Host, launch_all
from scoregate.ci.launch.result_files import ReadResultFile

__all__ = [
    "AroundLaunches",
    "CallService",
    "EmitEvent",
    "EventsReceived",
    "Failed",
    "Filtered",
    "Finished",
    "Host",
    "LaunchEvent",
    "LaunchLayer",
    "Launching",
    "MakeEnvironment",
    "MediaReceived",
    "Notice",
    "Printed",
    "Progress",
    "ReadResultFile",
    "Started",
    "TracesReceived",
    "UsageCounted",
    "count_calls",
    "launch_all",
    "open_layers",
]
