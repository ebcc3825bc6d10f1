"""report.html: the run in one file that opens anywhere, asks nothing of the network and treats every output as text."""

from scoregate.ci.report.html.document import render

__all__ = ["render"]
