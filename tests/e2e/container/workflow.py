"""A repository on the fake of GitHub whose jobs run in our container."""

from __future__ import annotations

import io
import re
import shutil
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from tests.e2e.container.conftest import OWNER, Action, change_owner
from tests.fakes.github import Run, events
from tests.integration.jobs.world import World

_EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")
OURS, UPLOAD, DOWNLOAD = "scoregate/scoregate", "actions/upload-artifact", "actions/download-artifact"


@dataclass
class Workflow(World):
    """Runs jobs as a runner does: the step of the action in its container, and the steps around it.

    Attributes:
        action: the action with its image.
        owners: who owned the files of the workspace after the last step with the action.
    """

    action: Action | None = None
    owners: set[int] = field(default_factory=set)

    def step(
        self, event: events.Event, inputs: Mapping[str, Any], run: Run, *, env: Mapping[str, str] | None = None
    ) -> Any:
        """One step with the action; the workspace belongs to the runner's user, as it does on GitHub's machines."""
        assert self.action is not None
        change_owner(self.project.root, OWNER)
        environment = {name: str(value) for name, value in inputs.items()}
        context = self._context(event, run)
        result = self.action.run(self.project.root, environment, env or {}, github=context, event=event.payload)
        self.owners = {path.lstat().st_uid for path in self.project.root.rglob("*")}
        change_owner(self.project.root, 0)  # git refuses to work in folders of other users
        return result

    def steps(
        self, event: events.Event, steps: Iterable[Mapping[str, Any]], *, run: Run | None = None, **matrix: str
    ) -> Any:
        """The steps of a job of a workflow file; the last upload has the files that scoregate left."""
        run, result = run or self.workflow_run(event), None
        known = {f"matrix.{name}": value for name, value in matrix.items()}
        for step in steps:
            inputs, env = ({name: _filled(value, known) for name, value in step.get(table, {}).items()}
                           for table in ("with", "env"))  # fmt: skip
            if step["uses"].startswith(OURS):
                result = self.step(event, inputs, run, env=env)
                known |= {f"steps.{step.get('id')}.outputs.{name}": value for name, value in result.outputs.items()}
            elif step["uses"].startswith(UPLOAD) and inputs["path"]:
                self._upload(run, inputs)
            elif step["uses"].startswith(DOWNLOAD):
                self._download(run, inputs)
        return result

    def _upload(self, run: Run, inputs: Mapping[str, Any]) -> None:
        path = self.project.root / inputs["path"]
        content = {path.name: path.read_bytes()} if path.is_file() else path
        run.upload(inputs["name"], content, overwrite=bool(inputs.get("overwrite")))
        shutil.rmtree(path.parent)

    def _download(self, run: Run, inputs: Mapping[str, Any]) -> None:
        folder = self.project.root / inputs["path"]
        for artifact in run.artifacts:
            archive = zipfile.ZipFile(io.BytesIO(artifact.content))
            if artifact.name == inputs.get("name"):
                archive.extractall(folder)
            elif fnmatchcase(artifact.name, inputs.get("pattern", "")):
                archive.extractall(folder / artifact.name)

    def _context(self, event: events.Event, run: Run) -> dict[str, str]:
        variables = event.environment(self.folder, run)
        names = (name.removeprefix("GITHUB_").lower() for name in variables)
        context = dict(zip(names, variables.values(), strict=True))
        return {**context, "token": self.github.token(**self.permissions), "repository": self.repo.full_name}


def _filled(value: object, known: Mapping[str, str]) -> Any:
    """Of a repository without secrets, as this one is, all are empty."""
    if not isinstance(value, str):
        return value
    return _EXPRESSION.sub(lambda found: "" if found[1].startswith("secrets.") else known[found[1]], value)
