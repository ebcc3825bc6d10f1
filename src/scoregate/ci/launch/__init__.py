"""Launch scripts as child processes and tell what they say."""

from scoregate.ci.launch.happenings import Began, Ended, Happening, Noticed, Printed, Said
from scoregate.ci.launch.scripts import launching

__all__ = ["Began", "Ended", "Happening", "Noticed", "Printed", "Said", "launching"]
