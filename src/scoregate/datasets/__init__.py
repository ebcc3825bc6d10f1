"""Datasets: rows with a schema, in versions that stay readable, stored in files that people can edit."""

from scoregate.datasets.changes import Dependents
from scoregate.datasets.client import DatasetInfo, Datasets
from scoregate.datasets.dataset import Dataset
from scoregate.datasets.schema import Example, Schema
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
