"""Tests as data: test sets, endpoints and runs in the project's store."""

from scoregate.entities.collections import (
    Behaviors,
    Categories,
    Endpoints,
    Metrics,
    Requirements,
    TestResults,
    TestRuns,
    Tests,
    TestSets,
    Topics,
)
from scoregate.entities.endpoint import Endpoint
from scoregate.entities.labels import Behavior, Category, Requirement, Topic
from scoregate.entities.prompt import Prompt, TestConfiguration
from scoregate.entities.test import Test
from scoregate.entities.test_files import read_tests
from scoregate.entities.test_run import TestResult, TestRun
from scoregate.entities.test_set import TestSet
from scoregate.enums import RunStatus
from scoregate.store import current_store, use_store

__all__ = [
    "Behavior",
    "Behaviors",
    "Categories",
    "Category",
    "Endpoint",
    "Endpoints",
    "Metrics",
    "Prompt",
    "Requirement",
    "Requirements",
    "RunStatus",
    "Test",
    "TestConfiguration",
    "TestResult",
    "TestResults",
    "TestRun",
    "TestRuns",
    "TestSet",
    "TestSets",
    "Tests",
    "Topic",
    "Topics",
    "current_store",
    "read_tests",
    "use_store",
]
