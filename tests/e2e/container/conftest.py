"""Our image, built from its own Dockerfile, and run the way GitHub's runner runs it."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

import pytest
from tests.e2e.container.image import ROOT, TOOLS, Image, build_image, missing_tools
from tests.fakes.github import GitHub
from tests.integration.host.conftest import Project

TOKEN = "ghs_0123456789abcdefghij"
OWNER = 4321
NONE: Mapping[str, Any] = MappingProxyType({})
GITHUB = {
    "action": "scoregate",
    "event_name": "workflow_dispatch",
    "job": "evals",
    "ref": "refs/heads/main",
    "repository": "octo/app",
    "run_attempt": "1",
    "run_id": "1",
    "server_url": "https://github.com",
    "token": TOKEN,
    "workflow": "evals",
}


class Action:
    """The action with its image; `run` does with it what a step of a workflow does.

    Attributes:
        image: the tag of the image.
        settings: the variable that names podman's settings.
    """

    def __init__(self, image: Image, runner: ModuleType, github: Mapping[str, str]) -> None:
        self.image = image.tag
        self.settings = image.variable
        self._runner = runner
        self._github = github

    def run(
        self,
        workspace: Path,
        inputs: Mapping[str, str] = NONE,
        env: Mapping[str, str] = NONE,
        *,
        github: Mapping[str, str] = NONE,
        event: Mapping[str, object] = NONE,
        network: str = "host",
    ) -> Any:
        """What the step left behind: exit_code, outputs, summary, annotations, log, commands, …

        Args:
            inputs: what stands under `with`. env: variables of the step. github: fields of the context.
            event: the payload. network: `host`, so that servers on loopback are reached, or `none`.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # the runner leaves its pipe to the collector
            return self._runner.run(
                ROOT / "action.yml",
                self.image,
                workspace,
                given=inputs,
                event=dict(event),
                github={**self._github, **github},
                step_env=env,
                network=network,
            )

    def container(self, workspace: Path) -> str:
        """The id of the running container that has this workspace."""
        for name in podman("ps", "--quiet", "--filter", "label=run-action").split():
            # That of another test may have ended, and then there is no output.
            for content in json.loads(podman("inspect", name, check=False) or "[]"):
                if str(workspace.resolve()) in {mount["Source"] for mount in content["Mounts"]}:
                    return str(content["Id"])
        raise LookupError(workspace)


def podman(*words: str, check: bool = True) -> str:
    return subprocess.run(["podman", *words], check=check, capture_output=True, text=True).stdout


@pytest.fixture(scope="session")
def runner() -> ModuleType:
    """A substitute for GitHub's runner."""
    if lacking := missing_tools():
        pytest.skip(f"NOT TESTED, the container: {lacking}")
    spec = importlib.util.spec_from_file_location("run_action", TOOLS / "run_action.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def action(runner: ModuleType) -> Iterator[Action]:
    """The action, with an image built from this checkout."""
    image = build_image()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(image.variable, image.value)
        with GitHub.start() as hub:
            yield Action(image, runner, {**GITHUB, **context(hub)})


def context(hub: GitHub) -> dict[str, str]:
    """The variables of a job with the address of its GitHub and a valid token."""
    hub.repository("octo/app")
    rights = hub.tokens.pop(hub.token(contents="read", actions="read"))
    hub.tokens[TOKEN] = replace(rights, secret=TOKEN)
    return {name.removeprefix("GITHUB_").lower(): value for name, value in hub.environment.items()}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A repository to be the workspace."""
    root = tmp_path / "app"
    root.mkdir()
    return Project(root)


def change_owner(workspace: Path, uid: int) -> None:
    """Make a user the owner of a workspace and all that is in it, as a runner is."""
    for path in (workspace, *workspace.rglob("*")):
        os.chown(path, uid, uid, follow_symlinks=False)


@dataclass
class Runner:
    """The runner with its folders as they are on GitHub: they belong to its user, the workspace's owner."""

    folder: Path
    owners: set[int] = field(default_factory=set)

    def give_folders(self) -> None:
        for path in (self.folder, *self.folder.rglob("*")):
            os.chown(path, OWNER, OWNER)
            path.chmod(0o755 if path.is_dir() else 0o666)

    def keep_files(self) -> None:
        """Before the runner deletes them."""
        (files,) = self.folder.glob("runner-*/_runner_file_commands")
        shutil.copytree(files, self.folder.with_name("kept"))
        self.owners = {path.lstat().st_uid for path in self.folder.rglob("*")}

    def written(self, prefix: str) -> str:
        (path,) = self.folder.with_name("kept").glob(f"{prefix}_*")
        return path.read_text(encoding="utf-8")

    @property
    def names(self) -> list[str]:
        return sorted(path.name.rpartition("_")[0] for path in self.folder.with_name("kept").iterdir())


@pytest.fixture
def github_runner(runner: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runner:
    new_runner = Runner(tmp_path / "temp")
    new_runner.folder.mkdir()
    for path in (tmp_path, *list(tmp_path.parents)[:2]):
        path.chmod(0o755)
    log, result = runner.Log, runner.Result

    class Log(log):  # type: ignore[misc, valid-type]
        def __init__(self, secrets: Any) -> None:
            new_runner.give_folders()
            super().__init__(secrets)

    def with_files(*args: Any, **given: Any) -> Any:
        new_runner.keep_files()
        return result(*args, **given)

    monkeypatch.setattr(tempfile, "tempdir", str(new_runner.folder))
    monkeypatch.setattr(runner, "Log", Log)
    monkeypatch.setattr(runner, "Result", with_files)
    return new_runner
