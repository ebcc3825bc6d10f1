"""report.html: the run in one file that opens anywhere, makes no network requests and treats outputs as text."""

from scoregate.kernel.report.html.document import render

__all__ = ["render"]
