"""Other frameworks' result files, read as events: one file a format, in an explicit table."""

from scoregate.ci.documents.files import ResultFile
from scoregate.features.imports.reader import IMPORTERS, Reader

__all__ = ["IMPORTERS", "Reader", "ResultFile"]
