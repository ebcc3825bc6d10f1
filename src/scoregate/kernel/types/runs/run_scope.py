"""Which suites and cases of a project a run covers, and what chose them."""

from __future__ import annotations

from scoregate.kernel.types.records import record


@record
class ExecCall:
    """The call of `scoregate exec` that made a run.

    Attributes:
        options: the options that say how results are read, with their values.
        command: the command line.
        folder: where it ran, relative to the project.
    """

    options: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    folder: str = "."


@record
class RunShard:
    """The shard that a run is of: the one with a `number`, from 1, `of` all shards.

    Attributes:
        partition: the fingerprint of the partition; `contents`: what each of its shards runs, as text.
        id: the digest of what the shard runs; `base`: the id of the baseline whose outputs and cases it used, or empty.
        no_control: why the drift control of its cases has no result; empty if it has one.
    """

    partition: str
    number: int
    of: int
    id: str
    base: str = ""
    contents: tuple[str, ...] = ()
    no_control: str = ""


@record
class RunScope:
    """Which suites and cases of a project a run covers.

    Attributes:
        filters: the globs that suites' ids had to match; `file_filters`, of a project's file, excuse no missing suite.
        skipped: the ids of suites without a requirement, such as a model's key; `left_out`: those that match no filter.
        narrowed: whether files, a command or test sets were named, so that other suites are not in the run.
        exec_call: the call of `scoregate exec` that made it; None for `scoregate run`.
        selection: the options that left out cases.
        shard: that it is of; None for a whole run.
    """

    filters: tuple[str, ...] = ()
    file_filters: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    narrowed: bool = False
    exec_call: ExecCall | None = None
    selection: str = ""
    shard: RunShard | None = None

    @property
    def is_whole(self) -> bool:
        """Whether it covers all suites and cases that the project's settings name."""
        is_filtered = self.filters != self.file_filters
        return not (self.selection or self.narrowed or is_filtered or self.shard)
