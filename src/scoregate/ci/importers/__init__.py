"""Other frameworks' result files, read as events: one file a format, in an explicit table."""

from scoregate.ci.importers.formats import IMPORTERS
from scoregate.ci.importers.reading import Reader
from scoregate.ci.importers.result_file import ResultFile

__all__ = ["IMPORTERS", "Reader", "ResultFile"]
