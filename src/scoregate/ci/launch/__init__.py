"""Launch scripts as child processes and tell what they say."""

from scoregate.ci.launch.happenings import (
    Began,
    Counted,
    Ended,
    Failed,
    Happening,
    LeftOut,
    Noticed,
    Printed,
    Said,
    Tell,
)
from scoregate.ci.launch.host import Equip, Host, OpenLine
from scoregate.ci.launch.scripts import launch_all

__all__ = [
    "Began",
    "Counted",
    "Ended",
    "Equip",
    "Failed",
    "Happening",
    "Host",
    "LeftOut",
    "Noticed",
    "OpenLine",
    "Printed",
    "Said",
    "Tell",
    "launch_all",
]
