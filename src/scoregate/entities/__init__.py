"""Tests as data: test sets and what belongs to them, kept in the project's store."""

from scoregate.entities.files import read_tests
from scoregate.entities.place import current_store, use_store
from scoregate.entities.prompt import Prompt
from scoregate.entities.test import Test, TestConfiguration
from scoregate.entities.test_set import TestSet

__all__ = ["Prompt", "Test", "TestConfiguration", "TestSet", "current_store", "read_tests", "use_store"]
