"""A repository that is both on this machine and on the fake, and jobs that run in it as a runner runs them."""

from __future__ import annotations

import gzip
import itertools
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from tests.cli import run_cli
from tests.fakes import runner
from tests.fakes.github import GitHub, Pull, Repository, Run, events
from tests.fakes.runner import Command
from tests.integration.host.conftest import Project, Ran, clean_environment, start_program, suite

NAMES = itertools.count(1)
READ = {"contents": "read", "actions": "read"}
# The first jobs of worlds, by what they ran, and the commits that they ran on.
FIRST_JOBS: dict[tuple[object, ...], tuple[Job, str]] = {}
FIRST_JOBS_FOLDER = tempfile.TemporaryDirectory(prefix="scoregate-first-jobs-")
WRITE = {**READ, "pull_requests": "write", "checks": "write"}


@dataclass
class Job(Ran):
    """What a job left behind, besides what every command leaves."""

    outputs: dict[str, str]
    summary: str
    ran: Run

    @property
    def commands(self) -> list[Command]:
        """What the runner obeys of the log."""
        return runner.parse_commands(self.output)

    @property
    def warnings(self) -> list[str]:
        return [command.message for command in self.commands if command.name == "warning"]

    @property
    def written(self) -> dict[str, bytes]:
        """Every file that is left, unpacked."""
        paths = [path for path in self.out.rglob("*") if path.is_file()]
        return {
            path.name: gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            for path in paths
        }

    def upload(self) -> None:
        """As the step after scoregate does."""
        self.ran.upload(self.outputs["artifact-name"], self.out / "run")


@dataclass
class World:
    """One repository."""

    github: GitHub
    project: Project
    repo: Repository
    folder: Path
    permissions: Mapping[str, str] = field(default_factory=lambda: dict(WRITE))

    @classmethod
    def new(cls, github: GitHub, folder: Path, name: str = "acme/bot") -> Self:
        root = folder / "workspace"
        root.mkdir(parents=True)
        repository = cls(github, Project(root), github.repository(name), folder)
        repository.project.write(".gitignore", "scoregate-out\n")
        repository.commit_suite(good=20)
        return repository

    def commit_suite(self, body: str = "", **options: Any) -> str:
        """A version of the suite, committed to the branch that is checked out."""
        self.project.write("evals/demo.py", suite(body, **options))
        return self.commit()

    def commit(self) -> str:
        self.project.git("add", "-A")
        self.project.git("commit", "-q", "--allow-empty", "-m", f"change {next(NAMES)}")
        return self.repo.push(self.project.root)

    def branch(self, name: str = "change") -> None:
        self.project.git("checkout", "-q", "-b", name, "main")

    def open_pull_request(self, head: str = "change", *, fork: Repository | None = None) -> Pull:
        """Its merge commit is what is checked out afterwards, as actions/checkout leaves it.

        Of a fork's, the token may only read from now on.
        """
        if fork is not None:
            fork.push(self.project.root)
            self.permissions = READ
        pull = self.repo.pull_request(head, head_repository=fork)
        self.check_out_merge(pull)
        return pull

    def check_out_merge(self, pull: Pull) -> None:
        git = self.project.git
        git("checkout", "-q", "--detach", "main")
        git("merge", "-q", "--no-ff", "-m", f"Merge {pull.head_ref}", pull.head_ref)
        git("branch", "-f", "merged")
        self.repo.refs[f"refs/pull/{pull.number}/merge"] = self.repo.push(self.project.root)

    def check_out_shallow(self, branch: str) -> None:
        """As actions/checkout does by default: one commit, and no names but its own."""
        shallow = self.folder / f"shallow-{next(NAMES)}"
        shallow.mkdir()
        source = self.project.root
        self.project = Project(shallow)
        self.project.git("fetch", "-q", "--depth=1", f"file://{source}", branch)
        self.project.git("checkout", "-q", "--detach", "FETCH_HEAD")

    def start(self, event: events.Event, ran: Run, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        """Start a command in a process of its own, where that process is what is tested."""
        environ = self.environ(event, ran, environment)
        return start_program(*(arguments or ("run",)), cwd=self.project.root, environ=environ)

    def environ(self, event: events.Event, ran: Run, more: Mapping[str, str]) -> dict[str, str]:
        """The environment of a step in a job, whose output and summary are empty."""
        for name in ("output", "summary"):
            (self.folder / name).write_text("")
        return {
            **clean_environment(),
            **event.environment(self.folder, ran),
            "GITHUB_ACTIONS": "true",
            "CI": "true",
            "GITHUB_JOB": "evals",
            "GITHUB_WORKSPACE": str(self.project.root),
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            "INPUT_GITHUB-TOKEN": self.github.token(**self.permissions),
            **more,
        }

    def job(self, event: events.Event, *arguments: str, run: Run | None = None, **environment: str) -> Job:
        """Run a command in a job on an event, in this process."""
        workflow_run = run or self.workflow_run(event)
        environ = self.environ(event, workflow_run, environment)
        outcome = run_cli(*(arguments or ("run",)), cwd=self.project.root, environ=environ, merge_stderr=True)
        return self.left(outcome.returncode, outcome.stdout, workflow_run)

    def finish(self, process: subprocess.Popen[str], ran: Run) -> Job:
        """Wait for a command that `start` started."""
        output, _ = process.communicate(timeout=180)
        return self.left(process.returncode, output, ran)

    def left(self, exit_code: int, output: str, ran: Run) -> Job:
        """What a command left behind."""
        outputs = runner.parse_outputs((self.folder / "output").read_text())
        summary = (self.folder / "summary").read_text()
        line = self.folder / f"out-{next(NAMES)}"
        if (self.project.root / "scoregate-out").exists():
            shutil.copytree(self.project.root / "scoregate-out", line)
        return Job(exit_code, output, line, outputs, summary, ran)

    def workflow_run(self, event: events.Event) -> Run:
        head = event.payload.get("pull_request", {}).get("head", {})
        source = self.github.repositories[(head.get("repo") or {}).get("full_name", self.repo.full_name)]
        return self.repo.workflow_run(
            event=event.name,
            head_branch=event.head_ref or event.ref.removeprefix("refs/heads/"),
            head_sha=head.get("sha") or event.sha,
            head_repository=source,
        )

    def fork(self, name: str = "mallory/bot") -> Repository:
        return self.github.repository(name, fork_of=self.repo)

    def second_stage(self, first: Run, *arguments: str, **environment: str) -> Job:
        """The workflow that waits for the first; it runs on the default branch, with every right."""
        self.project.git("checkout", "-q", "main")
        self.permissions = WRITE
        return self.job(events.workflow_run(first), "publish", *arguments, **environment)

    def push(self, **environment: str) -> Job:
        """The job on a push to main of what is there, its run uploaded.

        The first job of the same files is the same in every world, so it runs once and is copied from then on.
        """
        self.project.git("checkout", "-q", "main")
        tree, head = self.project.git("rev-parse", "HEAD^{tree}", "HEAD").split()
        key = (tree, self.repo.full_name, *environment.items())
        if not self.repo.runs and not self.github.faults and key in FIRST_JOBS:
            outcome = self._copy_job(*FIRST_JOBS[key], head)
        elif not self.repo.runs and not self.github.faults:
            outcome = self.job(events.push(self.repo), **environment)
            copy_folder = Path(tempfile.mkdtemp(dir=FIRST_JOBS_FOLDER.name))
            FIRST_JOBS[key] = (replace(outcome, out=shutil.copytree(outcome.out, copy_folder / "out")), head)
        else:
            outcome = self.job(events.push(self.repo), **environment)
        outcome.upload()
        return outcome

    def _copy_job(self, job: Job, its_head: str, head: str) -> Job:
        """The job of another world, as if it had run on this commit."""
        out = shutil.copytree(job.out, self.folder / f"out-{next(NAMES)}")
        for name in ("run/run.json", "result.json"):
            path = out / name
            path.write_text(path.read_text(encoding="utf-8").replace(its_head, head), encoding="utf-8")
        shutil.copytree(out, self.project.root / "scoregate-out", dirs_exist_ok=True)
        return replace(job, out=out, ran=self.workflow_run(events.push(self.repo)))
