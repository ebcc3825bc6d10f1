"""Datasets: rows with a schema, every version of which can be read back; kept in the store for people to edit."""

from scoregate.datasets.changes import Dependents
from scoregate.datasets.dataset import Dataset
from scoregate.datasets.example import Example
from scoregate.datasets.factory import DatasetInfo, Datasets
from scoregate.datasets.schema import Schema
from scoregate.datasets.versions import DatasetVersion, open_version

__all__ = [
    "Dataset",
    "DatasetInfo",
    "DatasetVersion",
    "Datasets",
    "Dependents",
    "Example",
    "Schema",
    "open_version",
]
