"""The loopback server that foreign SDKs report to, and the conversion of their calls into events."""

from scoregate.features.foreign.cloud import BaselineLookup
from scoregate.features.foreign.server import Listener, ListenerAddress, open_listener
from scoregate.features.foreign.suite_run import ListenerCallbacks

__all__ = ["BaselineLookup", "Listener", "ListenerAddress", "ListenerCallbacks", "open_listener"]
