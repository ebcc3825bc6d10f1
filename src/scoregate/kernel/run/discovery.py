"""Find the suites of a project: from the table of sources, then filters and required variables."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from scoregate.errors import StoreError, UsageError
from scoregate.kernel.host import git
from scoregate.kernel.host.secrets import short_secrets
from scoregate.kernel.host.user_ids import find_identity, missing_isolation
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.judge.settings.limit_fields import FEATURE_SETTINGS, hides_keys
from scoregate.kernel.run.discover.files import DEFAULT_FOLDER, FileList, ProjectFiles
from scoregate.kernel.run.discover.python_files import find_scripts
from scoregate.kernel.run.discover.settings_sources import find_commands, find_configs
from scoregate.kernel.run.discover.skills import find_skills
from scoregate.kernel.run.discover.testset_files import find_test_sets
from scoregate.kernel.run.plan import DiscoveredSuites, Plan, SkippedSource, SourceKind, SuiteSource, make_plan
from scoregate.kernel.run.tree_settings import merge_suite_gates
from scoregate.kernel.run.variables import check_required_env
from scoregate.kernel.types.declarations.declaration import Effect
from scoregate.kernel.types.runs.arms import Arm
from scoregate.kernel.types.text import matches_filters

FindSuites: TypeAlias = Callable[[ProjectFiles, Settings], Awaitable[DiscoveredSuites]]
SOURCES: tuple[FindSuites, ...] = (find_scripts, find_commands, find_configs, find_test_sets, find_skills)
_MOST_NAMES = 5


async def discover(
    root: Path,
    settings: Settings,
    *,
    environ: Mapping[str, str],
    skip_missing: bool = False,
    find: FindSuites | None = None,
) -> DiscoveredSuites:
    """Find everything that holds suites, with notices about the environment.

    Args:
        root: the project.
        settings: the settings of the project.
        environ: the environment, with the variables that some suites need.
        skip_missing: skip suites whose variables are not set, instead of failing them.
        find: finds the suites; `find_suites` by default.
    """
    files = ProjectFiles(root)
    suites = await _find_with_proposed(files, settings, find or find_suites)
    if not suites.sources and find in (None, find_suites) and not (settings.narrowed or settings.filters):
        from scoregate.kernel.run.discover.other_frameworks import find_frameworks

        ignored = find_ignored_suites(await files.list_all())
        suites += DiscoveredSuites(frameworks=await find_frameworks(files), skipped=ignored)
    suites = check_required_env(suites, merge_suite_gates(settings, suites.sources), environ, skip_missing=skip_missing)
    return suites + DiscoveredSuites(notices=tuple([notice async for notice in _environment_notices(root, environ)]))


def find_ignored_suites(files: FileList) -> tuple[SkippedSource, ...]:
    """The default folder of suites, if git ignores all of it."""
    start = f"{DEFAULT_FOLDER}/"
    if files.of_git is None or any(name.startswith(start) for name in files.of_git):
        return ()
    is_there = any(name.endswith(".py") for name in files.list_below(DEFAULT_FOLDER))
    return (SkippedSource(start, "git ignores it; name it to run it: scoregate run evals"),) if is_there else ()


_CHOICES = ("agent", "arms", "commands", "config", "configs", "suite")


def choose_base_suites(settings: Settings, of_base: Settings) -> Settings:
    """The settings by which the base's suites are found: what files choose is chosen by the base's file.

    Args:
        settings: the settings of the change.
        of_base: the settings of the base.
    """
    chosen: dict[str, Any] = {name: getattr(of_base, name) for name in _CHOICES if not settings.is_for_run(name)}
    chosen["paths"] = () if of_base.is_for_run("paths") else of_base.paths
    chosen["suites"] = {**of_base.suites, **settings.suites}
    return settings.model_copy(update=chosen)


_ANSWERS = ("evaluators", "model", "model_base_url", "model_headers")


def choose_tree_settings(settings: Settings, of_tree: Settings) -> Settings:
    """The settings by which another tree runs: what runs and which models answer is that tree's choice.

    Args:
        settings: the settings of the project, whose limits hold.
        of_tree: the settings of the tree.
    """
    answers = {name: getattr(of_tree, name) for name in _ANSWERS if not _is_set_up(name, settings)}
    return choose_base_suites(settings, of_tree).model_copy(update=answers)


def _is_set_up(name: str, settings: Settings) -> bool:
    """Whether what keeps the keys of models uses the setting, once for all runs."""
    return name == "model_base_url" and hides_keys(settings)


def list_fixed_settings(settings: Settings, of_tree: Settings) -> list[str]:
    """The settings that decide results, differ in another tree and are used once for all runs of a command."""
    names = ["env_file", *(name for name in _ANSWERS if _is_set_up(name, settings))]
    decides = (each for each in FEATURE_SETTINGS if Effect.DECIDES_RESULTS in each.effects or each.condition)
    names += (each.name for each in decides)
    return [name for name in names if getattr(settings, name) != getattr(of_tree, name)]


async def plan_base_suites(tree: Path, settings: Settings, plan: Plan, *, environ: Mapping[str, str]) -> Plan:
    """The plan of the suites in the base's tree, as if they were in the project's own.

    It has none that the change has but can't run. A suite whose variables are not set fails if only the base has it. If
    paths were named for this run, the plan has the suites of these files, and those whose files are gone if one of the
    named files is new: it may have been renamed.

    Args:
        tree: the project in the base's tree.
        settings: the settings by which they are found.
        plan: the plan of the change.
        environ: the environment, with the variables that some suites need.
    """
    try:
        suites = await find_suites(ProjectFiles(tree), settings)
    except (StoreError, UsageError) as error:
        suites = DiscoveredSuites((SuiteSource("the base's suites", SourceKind.PYTHON, error=error.message),))
    head_paths = {launch.source.path for launch in plan.launches}
    stopped = {*plan.unset, *(source.path for source in plan.broken)}
    suites = DiscoveredSuites(tuple(source for source in suites.sources if source.path not in stopped))
    suites = check_required_env(suites, merge_suite_gates(settings, suites.sources), environ, skip_missing=False)
    files = (launch.source.path for launch in plan.launches if launch.kind is not SourceKind.COMMAND)
    has_new = any(not (tree / path).exists() for path in files)
    sources = tuple(
        source
        for source in suites.sources
        # What the change has too runs by its plan; if the base's version can't be run, its end shows that.
        if (
            source.error is None
            if source.path in head_paths
            else _may_be_missing(source, settings, plan, has_new=has_new)
        )
    )
    return make_plan(replace(suites, sources=sources), settings, interpreter=plan.interpreter, root=plan.root)


def _may_be_missing(source: SuiteSource, settings: Settings, plan: Plan, *, has_new: bool) -> bool:
    """Whether a source that only the base's discovery finds belongs to the baseline."""
    return not settings.is_for_run("paths") or (has_new and not (plan.root / source.path).exists())


async def find_suites(files: ProjectFiles, settings: Settings) -> DiscoveredSuites:
    """The suites of every source that match the filters."""
    suites = DiscoveredSuites()
    for find in SOURCES:
        suites += await find(files, settings)
    return select_suites(suites, settings.suite)


async def with_suite_gates(root: Path, settings: Settings) -> Settings:
    """The settings with the gates in suites' files, for a run that is judged where nothing is run.

    If the project itself is missing, as in a job that only has its runs, the settings stay as they are.
    """
    try:
        return merge_suite_gates(settings, (await find_test_sets(ProjectFiles(root), settings)).sources)
    except UsageError:
        return settings


async def _find_with_proposed(files: ProjectFiles, settings: Settings, find: FindSuites) -> DiscoveredSuites:
    """The suites by the settings; if these are the base's, also the suites that the change adds."""
    head = settings.proposed
    if head is None or head.paths == settings.paths:
        return await find(files, settings)
    try:
        suites = await find(files, settings)
    except UsageError as error:
        broken = SuiteSource(", ".join(settings.paths), SourceKind.PYTHON, error=error.message)
        suites = DiscoveredSuites((broken,))
    known = {(source.kind, source.path) for source in suites.sources}
    others = await find(files, settings.model_copy(update={"paths": head.paths}))
    return suites + DiscoveredSuites(tuple(each for each in others.sources if (each.kind, each.path) not in known))


def select_suites(suites: DiscoveredSuites, globs: Sequence[str]) -> DiscoveredSuites:
    """Drop the sources of which no suite's id matches, as far as ids are known; report ids that are used twice."""
    sources: list[SuiteSource] = []
    skipped, notices = list(suites.skipped), list(suites.notices)
    files: dict[str, list[str]] = {}
    for source in suites.sources:
        ids = source.suite_ids
        if ids is not None and source.error is None and not any(matches_filters(each, globs) for each in ids):
            why = f"its suites ({', '.join(ids)}) match none of {', '.join(globs)}"
            skipped.append(SkippedSource(source.path, why, left_out=ids))
            continue
        sources.append(source)
        for suite_id in () if source.arm is Arm.WITHOUT else ids or ():
            files.setdefault(suite_id, []).append(source.path)
    for suite_id, paths in files.items():
        if len(paths) > 1:
            uses = ", ".join(paths)
            notices.append(f"the suite id {suite_id} is used in {uses}; reports add the file to the name of each")
    return replace(suites, sources=tuple(sources), skipped=tuple(skipped), notices=tuple(notices))


async def _environment_notices(root: Path, environ: Mapping[str, str]) -> AsyncIterator[str]:
    """Notices about the environment that suites run in."""
    identity = find_identity(environ)
    if (why := missing_isolation(environ)) is not None:
        yield why
    if identity is not None and not identity.owns:
        yield "the workspace belongs to root, so suites can't write into it"
    if environ.get("GITHUB_ACTIONS") == "true" and await git.has_stored_token(root):
        yield (
            "suites can read the job's token, which actions/checkout stored: "
            "set `persist-credentials: false` for actions/checkout"
        )
    if names := short_secrets(environ):
        values = "the value has fewer than 8 characters, so reports don't redact it"
        if len(names) > 1:
            values = "the values have fewer than 8 characters, so reports don't redact them"
        yield f"{', '.join(names[:_MOST_NAMES])}: {values}"
