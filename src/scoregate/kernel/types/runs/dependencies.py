"""What the suites of a run depend on: files, folders and modules of the repository, with digests of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from typing import NamedTuple

from scoregate.kernel.types.records import record

MOST_DEPENDENCIES = 100_000
MOST_USES = 1_000_000
LONGEST_PATH = 1_000
LONGEST_REASON = 300


class Dependency(NamedTuple):
    """Something that a script used.

    Attributes:
        kind: `file`, `rows` (a file whose rows are cases, and that nothing else reads), `folder` (its entries),
            `imports` (those entries of a folder that the script's imports may find), `stem` (the files of a name with
            the endings of modules), `inputs` (the files that match a glob), or `tree` (everything below a folder).
        path: relative to the top of the repository, with slashes; empty for the top itself.
        digest: the digest of what was there; empty if nothing was; `?` if it is unknown.
    """

    kind: str
    path: str
    digest: str


UNKNOWN = "?"
ROWS = "rows"


@record
class CarriedFrom:
    """The run that results come from: its id, a name such as `main@a1b2c3d`, and when it finished; 0 if unknown."""

    id: str
    name: str
    finished: float = 0.0


@record
class ScriptDependencies:
    """What one script used.

    Attributes:
        script: the name of the script.
        launch: the digest of how it was started: its command, and the settings that reach its process.
        uses: the places of its dependencies in the table of the run, as far as they were seen.
        modules: parts of the names of modules that it imported or looked for.
        native: native code that may read files unseen; empty if there was none.
        unknown: why the rest is not all that it used; empty if it is.
    """

    script: str
    launch: str
    uses: tuple[int, ...] = ()
    modules: tuple[str, ...] = ()
    native: str = ""
    unknown: str = ""


@record
class RunDependencies:
    """What the scripts of a run depend on.

    Attributes:
        table: the dependencies of all scripts.
        scripts: the scripts.
        shared: the digests of the files that every script depends on, by path: how packages are installed, workflows.
        data: digests of all tracked files that are no code, by the ends of their names.
    """

    table: tuple[Dependency, ...] = ()
    scripts: tuple[ScriptDependencies, ...] = ()
    shared: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_recorded(self) -> bool:
        """Whether the run recorded any."""
        return bool(self.scripts)

    def find_scripts(self, name: str) -> tuple[ScriptDependencies, ...]:
        """What a script used, in each shard that ran a part of it; empty if that is not recorded."""
        return tuple(each for each in self.scripts if each.script == name)


def merge_dependencies(own: RunDependencies, other: RunDependencies, names: Collection[str]) -> RunDependencies:
    """What the scripts of a run depend on, with some scripts of another one.

    Args:
        own: of the run.
        other: of the other one.
        names: the names of the scripts in the other one.
    """
    table = {each: place for place, each in enumerate(own.table)}
    scripts = list(own.scripts)
    for script in other.scripts:
        if script.script in names:
            uses = tuple(table.setdefault(other.table[use], len(table)) for use in script.uses)
            scripts.append(replace(script, uses=uses))
    return replace(own, table=tuple(table), scripts=tuple(sorted(scripts, key=lambda each: each.script)))


def add_earlier_uses(own: RunDependencies, earlier: RunDependencies, names: Collection[str]) -> RunDependencies:
    """What the scripts of a run depend on, of which some ran only the cases whose rows changed.

    Args:
        own: of the run.
        earlier: of the run that the other cases' results come from. What they used is the same now, except for rows.
        names: the names of these scripts.
    """
    table = {each: place for place, each in enumerate(own.table)}
    scripts = []
    for script in own.scripts:
        used_paths, merged = {(own.table[use].kind, own.table[use].path) for use in script.uses}, script
        for known in earlier.find_scripts(script.script) if script.script in names else ():
            added = [earlier.table[use] for use in known.uses]
            added = [each for each in added if each.kind != ROWS and (each.kind, each.path) not in used_paths]
            merged = replace(
                merged,
                uses=(*merged.uses, *(table.setdefault(each, len(table)) for each in added)),
                modules=tuple(sorted({*merged.modules, *known.modules})),
                native=merged.native or known.native,
                unknown=merged.unknown or known.unknown,
            )
        scripts.append(merged)
    return replace(own, table=tuple(table), scripts=tuple(scripts))


def merge_shard_dependencies(runs: Sequence[tuple[RunDependencies, Collection[str]]]) -> RunDependencies:
    """What the scripts of a merged run depend on: a script that several shards ran depends on what it used in each.

    Args:
        runs: the dependencies of each shard, and the names of the scripts that it ran.

    Returns:
        The dependencies; none if shards recorded nothing, or found other files.
    """
    known = [dependencies for dependencies, _ in runs if dependencies.is_recorded]
    first = known[0] if known else RunDependencies()
    if not known or any((each.shared, each.data) != (first.shared, first.data) for each in known):
        return RunDependencies()
    merged = replace(first, table=(), scripts=())
    for dependencies, names in runs:
        merged = merge_dependencies(merged, dependencies, names)
        missing = set(names) - {each.script for each in dependencies.scripts}
        unknown = tuple(ScriptDependencies(name, "", unknown="a shard did not record it") for name in sorted(missing))
        merged = replace(merged, scripts=(*merged.scripts, *unknown))
    return merged


def merge_matrix_dependencies(runs: Sequence[tuple[str, RunDependencies]]) -> RunDependencies:
    """What the scripts of the merged run of a matrix depend on, each with the name of its run before its own.

    Args:
        runs: the names of the runs, and their dependencies.

    Returns:
        The dependencies, without scripts of runs that recorded nothing; none if runs found other files.
    """
    known = [(name, each) for name, each in runs if each.is_recorded]
    first = known[0][1] if known else RunDependencies()
    if any((each.shared, each.data) != (first.shared, first.data) for _, each in known):
        return RunDependencies()
    merged = replace(first, table=(), scripts=())
    for name, each in known:
        scripts = tuple(replace(script, script=f"{name}: {script.script}") for script in each.scripts)
        merged = merge_dependencies(merged, replace(each, scripts=scripts), {script.script for script in scripts})
    return merged


def check_dependencies(dependencies: RunDependencies) -> None:
    """Check what a file says, which a suite may have written.

    Raises:
        ValueError: scoregate does not write it so.
    """
    size = len(dependencies.table)
    uses = sum(len(each.uses) for each in dependencies.scripts)
    if size > MOST_DEPENDENCIES or uses > MOST_USES or len(dependencies.shared) > MOST_DEPENDENCIES:
        raise ValueError("it has too many dependencies")
    if any(not 0 <= use < size for each in dependencies.scripts for use in each.uses):
        raise ValueError("a script uses an unknown dependency")
    texts = [text for each in dependencies.table for text in each]
    texts += [name for each in dependencies.scripts for name in each.modules]
    texts += [*dependencies.shared, *dependencies.data]
    if any(len(text) > LONGEST_PATH for text in texts):
        raise ValueError("a path is too long")
    if any(not is_relative(each.path) for each in dependencies.table):
        raise ValueError("a path is not in the repository")


def is_relative(path: str) -> bool:
    """Whether a path can't lead out of the folder that it is relative to."""
    return not path.startswith("/") and ".." not in path.split("/") and "\0" not in path
