"""The loopback server that foreign SDKs report to, and the conversion of their calls into events."""

from scoregate.ci.listen.cloud import BaselineLookup
from scoregate.ci.listen.server import Listener, ListenerAddress, open_listener
from scoregate.ci.listen.suite_run import ListenerCallbacks

__all__ = ["BaselineLookup", "Listener", "ListenerAddress", "ListenerCallbacks", "open_listener"]
