"""What one command selects of the cases of a project, so that its run is only a part."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import NamedTuple

from scoregate.kernel.types.records import record
from scoregate.kernel.types.selection.case_choice import CaseChoice, CaseLabels

CasesBySuite = Mapping[str, Sequence[str]]


class Node(NamedTuple):
    """A part of a file, as `FILE::SUITE::CASE` names it; an empty suite or case takes all."""

    path: str
    suite: str = ""
    case: str = ""

    def __str__(self) -> str:
        """The name as it is written on the command line."""
        return "::".join(filter(None, self))

    def holds_source(self, path: str) -> bool:
        """Whether it names this file, or a folder above it."""
        return path == self.path or path.startswith(f"{self.path}/")


@record
class CaseSelection:
    """The cases that one command runs. Only the command line sets it.

    Attributes:
        keyword: an expression over suites, cases and tags.
        nodes: the named parts of files.
        failed: the hashes of the cases to run, by launch and suite; an empty list takes a whole suite, an empty mapping
            a whole launch. None takes all.
        first: the cases that run before the others, in the same form.
        sample: the number of cases in the random sample of each suite.
        seed: the seed of the sample.
        max_failures: the number of failing cases at which the run stops.
        max_cases: the number of the first cases of each suite, if the command line sets it on a developer's machine.
        paths: the files and folders that the command line names on a developer's machine, without nodes.
        sources: the sources that a changed file affects under `--watch`; None takes all.
    """

    keyword: str = ""
    nodes: tuple[Node, ...] = ()
    failed: Mapping[str, CasesBySuite] | None = field(default=None, hash=False)  # a mapping has no hash
    first: Mapping[str, CasesBySuite] = field(default_factory=dict, hash=False)
    sample: int | None = None
    seed: int = 0
    max_failures: int | None = None
    max_cases: int | None = None
    paths: tuple[str, ...] = ()
    sources: tuple[str, ...] | None = None

    @property
    def description(self) -> str:
        """The options that leave out cases, as they are written; empty if the run is whole."""
        return " ".join(self._options())

    @property
    def has_paths_only(self) -> bool:
        """Whether it names files and folders, and all of their cases run."""
        return bool(self.paths) and self.description == " ".join(map(shlex.quote, self.paths))

    def _options(self) -> Iterator[str]:
        if self.sources is None or self.nodes:
            yield from map(shlex.quote, (*self.paths, *map(str, self.expected_nodes)))
        else:
            yield from map(shlex.quote, self.sources)
        if self.keyword:
            yield f"-k {shlex.quote(self.keyword)}"
        if self.failed is not None:
            yield "--last-failed"
        if self.sample is not None:
            yield f"--sample {self.sample} --seed {self.seed}"
        if self.max_cases is not None:
            yield f"--max-cases {self.max_cases}"

    @property
    def is_filter(self) -> bool:
        """Whether it depends on the names of suites and cases."""
        return bool(self.keyword or self.nodes or self.failed is not None)

    def takes_launch(self, path: str, name: str) -> bool:
        """Whether anything of a launch runs.

        Args:
            path: the path of the source.
            name: the name of the launch.
        """
        is_affected = self.sources is None or path in self.sources
        return is_affected and (self.failed is None or name in self.failed)

    @property
    def expected_nodes(self) -> tuple[Node, ...]:
        """The nodes of which a case has to run."""
        if self.sources is None:
            return self.nodes
        return tuple(node for node in self.nodes if any(map(node.holds_source, self.sources)))

    def choice(self, path: str) -> CaseChoice:
        """The choice within a source.

        Args:
            path: the path of the source.
        """
        own = [node for node in self.nodes if node.holds_source(path)]
        # If the file itself is named, too, a case of it limits nothing.
        named = () if any(not node.suite for node in own) else tuple((node.suite, node.case) for node in own)
        return CaseChoice(self.keyword, named, self.sample, self.seed)

    def takes_case(self, path: str, name: str, suite: str, case: CaseLabels, label: str = "") -> bool:
        """Whether a case of a launch runs.

        Args:
            path: the path of the source.
            name: the name of the launch.
            suite: the id of the suite.
            case: the case.
            label: the id with the parameters of the suite's variant; without it, the id.
        """
        if self.failed is not None:
            suites = self.failed.get(name, {})
            if suites and (suite not in suites or (suites[suite] and case.hash not in suites[suite])):
                return False
        return self.choice(path).takes_case(suite, case, label)

    def environment(self, path: str, name: str) -> dict[str, str]:
        """The variables that limit the process of a launch to the selection."""
        choice = self.choice(path)
        data: dict[str, object] = {"keyword": choice.keyword} if choice.keyword else {}
        data |= {"named": choice.named} if choice.named else {}
        data |= {} if choice.sample is None else {"sample": choice.sample, "seed": choice.seed}
        data |= {"first": self.first[name]} if self.first.get(name) else {}
        variables = {"SCOREGATE_SELECTION": json.dumps(data)} if data else {}
        if self.failed is not None and self.failed.get(name):
            variables["SCOREGATE_OVERRIDES_TESTS_AND_HASHES"] = json.dumps(self.failed[name])
        return variables


WHOLE = CaseSelection()
