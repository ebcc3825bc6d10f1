"""The plug-in of pytest is loaded by name, so it works also if scoregate was installed before it had one."""

from __future__ import annotations

from tests.docs.project import Project


def prepare(project: Project) -> None:
    project.environment["PYTEST_PLUGINS"] = "scoregate.pytest_plugin"
    project.environment["PYTEST_ADDOPTS"] = "-p no:asyncio -p no:cacheprovider"
