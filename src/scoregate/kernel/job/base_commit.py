"""Whether the base's commit can run here as the base's run did: its files differ, and nothing else does."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from scoregate.kernel.host import git
from scoregate.kernel.job.ports import Ports
from scoregate.kernel.judge.settings import BaselineKind, Settings
from scoregate.kernel.judge.settings.sources import OWN_FILE
from scoregate.kernel.run.dependencies.project import find_folder, read_project_tree
from scoregate.kernel.run.dependencies.shared_files import SHARED_FILES, digest_shared_files
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.text import replace_surrogates

_GITHUB, _JOBS = ".github/", (".github/workflows/", ".github/actions/")


async def explain_base_cannot_run(run: Run, base: Run, settings: Settings, ports: Ports) -> str:
    """Why the base's commit can't run here as the base's run did; empty if it can.

    Args:
        run: the run.
        base: the base's run.
        settings: the settings of the project, which both would use.
        ports: know the project.
    """
    if problem := next(_explain_base(run, base), ""):
        return problem
    commit = base.code.commit or ""
    if await git.resolve_commit(ports.root, commit) is None:
        return f"the base's commit {commit[:7]} is not in this repository ({git.FETCH_ADVICE})"
    changed = await git.list_differing_files(ports.root, commit)
    if changed is None:
        return "git can't list the files that changed"
    named = f"/{settings.env_file or '/'}"
    tree = await read_project_tree(ports.root, settings)
    shared = {} if tree is None else digest_shared_files(tree, find_folder(ports.root, tree))
    decisive = (each for each in changed if each in shared or _affects_environment(each) or f"/{each}".endswith(named))
    name = replace_surrogates(next(decisive, ""))
    return f"{name} changed, and the base would run with this change" if name else ""


def name_base_commit(settings: Settings, base: Run, title: str) -> Settings:
    """The settings with which the base's commit runs here.

    Args:
        settings: the settings of the project.
        base: the base's run.
        title: what its record calls this run.
    """
    if settings.baseline_kind is BaselineKind.RERUN:
        return settings
    return settings.model_copy(update={"baseline": f"{BaselineKind.RERUN}:{base.code.commit}", "message": title})


def _explain_base(run: Run, base: Run) -> Iterator[str]:
    if base.code.commit is None or base.code.dirty:
        yield "the base's run is of no commit" if base.code.commit is None else "the base's run has uncommitted changes"
    known, own = base.conditions, run.conditions
    if known is None or own is None or known.settings != own.settings:
        yield "settings that change results differ from the base's, such as the model, and the base would use them"


def _affects_environment(path: str) -> bool:
    """Whether a file can change the packages or the variables that suites run with."""
    *folders, name = path.split("/")
    if path.startswith(_GITHUB):
        return path.startswith(_JOBS)
    return "requirements" in folders or any(fnmatchcase(name, pattern) for pattern in (*SHARED_FILES, OWN_FILE))
