"""Launch scripts as child processes and tell what they say."""

from scoregate.ci.launch.happenings import Began, Ended, Happening, Noticed, Printed, Said
from scoregate.ci.launch.host import Host
from scoregate.ci.launch.scripts import launch_all

__all__ = ["Began", "Ended", "Happening", "Host", "Noticed", "Printed", "Said", "launch_all"]
