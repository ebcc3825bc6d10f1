"""Other frameworks' result files, read as events: one file a format, in an explicit table."""

from scoregate.ci.importers.files import ResultFile
from scoregate.ci.importers.reader import IMPORTERS, Reader

__all__ = ["IMPORTERS", "Reader", "ResultFile"]
