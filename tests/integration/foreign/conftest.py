"""Autoblocks' own SDKs in their own environments, watched."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.fakes.openai import OpenAIServer
from tests.integration.foreign import environment, spies
from tests.integration.foreign.bench import Bench
from tests.integration.foreign.platform import Platform, open_platform
from tests.integration.host.conftest import clean_environment

from scoregate.features.foreign.connections import foreign_environment

DROPPED = ("PYTHONPATH", "NODE_OPTIONS", "OPENAI_", "AUTOBLOCKS_")


def outer_environment() -> dict[str, str]:
    """The environment without variables that SDKs read."""
    return {name: value for name, value in clean_environment().items() if not name.startswith(DROPPED)}


@dataclass(frozen=True)
class Place:
    """A folder in which programs run, spied on."""

    folder: Path
    platform: Platform
    openai: Mapping[str, str]

    def run(self, *command: str | Path, redirected: bool = True, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a program as scoregate runs commands."""
        variables = {**outer_environment(), **spies.spy_environment(self.folder), **self.openai, **more}
        return subprocess.run(
            command,
            env=foreign_environment(self.platform, variables) if redirected else variables,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    @property
    def hosts(self) -> set[str]:
        """What was asked for or connected to."""
        return spies.seen_hosts(self.folder)


@pytest.fixture(scope="session")
def python() -> Path:
    return environment.python()


@pytest.fixture(scope="session")
def modules() -> Path:
    return environment.node()


@pytest.fixture
def platform() -> Iterator[Platform]:
    with open_platform() as running:
        yield running


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer.start() as running:
        yield running


@pytest.fixture
def place(tmp_path: Path, platform: Platform, server: OpenAIServer) -> Place:
    folder = tmp_path / "a place"
    folder.mkdir()
    return Place(folder, platform, server.environment)


@pytest.fixture
def tsx(place: Place, modules: Path) -> Path:
    """The program that runs TypeScript; the modules are where a script of the place finds them."""
    (place.folder / "node_modules").symlink_to(modules)
    return modules / ".bin" / "tsx"


@pytest.fixture
def bench(tmp_path: Path, server: OpenAIServer) -> Bench:
    return Bench.new(tmp_path, server.environment)


@pytest.fixture
def project_modules(bench: Bench, modules: Path) -> None:
    """The SDK, `tsx` and `vitest` are modules of the project."""
    (bench.project.root / "node_modules").symlink_to(modules)
