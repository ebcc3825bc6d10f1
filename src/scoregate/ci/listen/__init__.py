"""The loopback server that foreign SDKs talk to, and what it makes of their calls: our events."""

from scoregate.ci.listen.line import Line
from scoregate.ci.listen.ports import Book, Hear
from scoregate.ci.listen.server import Listener, listening

__all__ = ["Book", "Hear", "Line", "Listener", "listening"]
