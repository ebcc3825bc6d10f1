"""Make the environment that the suites run in, from what the project says it needs."""

from scoregate.ci.install.prepare import prepare
from scoregate.ci.install.site import Site

__all__ = ["Site", "prepare"]
