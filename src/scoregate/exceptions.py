"""The same as `scoregate.errors`, under the name of judgeval's module."""

from scoregate.errors import *  # noqa: F403
