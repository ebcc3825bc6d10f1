"""Processes of the user's: what they get to see, as whom they run, how they end."""

from scoregate.ci.child.environment import visible
from scoregate.ci.child.output import Tail
from scoregate.ci.child.run import Child, End, run_child

__all__ = ["Child", "End", "Tail", "run_child", "visible"]
