"""The units that are measured: those of files that suites read, in the order of how much they promise."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field
from fnmatch import fnmatchcase
from typing import TypeVar

from scoregate.features.interventions.edited_trees.measuring_files import is_measuring_file
from scoregate.features.interventions.edited_trees.tree_copy import TreeCopy
from scoregate.features.interventions.mutation.operators import Operator
from scoregate.features.interventions.mutation.unedited_tree import UneditedTree, holds_cases
from scoregate.features.interventions.mutation.units import Unit, explain_skipped, find_units
from scoregate.kernel.run.dependencies.tree import Tree
from scoregate.kernel.run.plan import Plan
from scoregate.kernel.types.records import record

_Unit = TypeVar("_Unit")
_SEED, _MOST_OF_FILE = 1, 500


@record
class Choice:
    """Which units to measure.

    Attributes:
        operators: what to do to them.
        files: globs of files; empty for all that suites read.
        changed: the lines whose units are measured, by file; None for all units.
        first: the lines whose units are measured first, by file.
        sample: the number of units; None for all.
    """

    operators: tuple[Operator, ...] = (Operator.DELETE,)
    files: tuple[str, ...] = ()
    changed: Mapping[str, Collection[range]] | None = None
    first: Mapping[str, Collection[range]] = field(default_factory=dict)
    sample: int | None = None


@record
class ChosenUnit:
    """A unit that is measured.

    Attributes:
        unit: the unit.
        scripts: the scripts that read its file.
        cases: the number of cases whose requests contain it.
        is_own: whether the change of this branch touches it.
    """

    unit: Unit
    scripts: frozenset[str]
    cases: int = 0
    is_own: bool = False


@record
class FoundUnits:
    """The units in the order in which they are measured, and why files have none or not all, by path."""

    units: tuple[ChosenUnit, ...]
    skipped: Mapping[str, str]


def choose_units(
    choice: Choice, unedited: UneditedTree, copy: TreeCopy, plan: Plan, tree: Tree, folder: str
) -> FoundUnits:
    """Find the units of all files that suites read, and order them.

    Args:
        choice: which units to measure.
        unedited: which files suites read, and what they ask.
        copy: the files.
        plan: the suites, which are never edited.
        tree: the files of the repository.
        folder: the project in the repository.
    """
    found, skipped = list[ChosenUnit](), dict[str, str]()
    own = choice.first if choice.changed is None else choice.changed
    requests = {text for texts in unedited.requests.values() for text in texts}
    for path in _list_paths(choice, unedited, tree):
        readers = unedited.list_readers(path).union(unedited.unknown)
        if is_measuring_file(path, plan, tree, folder):
            continue
        content = copy.read(path)
        if content is None:
            skipped[path] = "has no units: it is a link, or in a linked folder"
        elif holds_cases(content, unedited.inputs):
            continue
        elif reason := explain_skipped(path, content):
            skipped[path] = f"has no units: {reason}"
        else:
            units = find_units(path, content, choice.operators, requests=requests)
            if not units and choice.files and path.endswith(".py"):
                skipped[path] = "has no units: none of its texts is in a request that was seen"
            units = [each for each in units if _is_chosen(each, choice.changed)]
            if len(units) > _MOST_OF_FILE:
                skipped[path] = f"has {len(units):,} units, of which {_MOST_OF_FILE:,} are edited"
                units = _draw(units, _MOST_OF_FILE)
            found += [
                ChosenUnit(each, readers, unedited.count_requests(each.text), _is_chosen(each, own)) for each in units
            ]
    return FoundUnits(tuple(_order(found, choice)), skipped)


def _list_paths(choice: Choice, unedited: UneditedTree, tree: Tree) -> Iterator[str]:
    """The files that suites read; where that is unknown, those that the user names."""
    read = unedited.list_files()
    if not choice.files:
        yield from read
        return
    known = set(read)
    for path in sorted({*known, *(tree.list_files() if unedited.unknown else ())}):
        if any(fnmatchcase(path, glob) or path == glob for glob in choice.files):
            yield path


def _is_chosen(unit: Unit, changed: Mapping[str, Collection[range]] | None) -> bool:
    first, last = unit.lines
    return changed is None or any(each.start <= last and first < each.stop for each in changed.get(unit.file, ()))


def _order(units: Sequence[ChosenUnit], choice: Choice) -> list[ChosenUnit]:
    """The units of the change first, then those that many cases ask about; a sample is drawn from all of them."""
    chosen = units if choice.sample is None else _draw(units, choice.sample)
    return sorted(chosen, key=lambda each: (not each.is_own, -each.cases))


def _draw(units: Sequence[_Unit], number: int) -> list[_Unit]:
    """A random sample, always the same, in the order of the units."""
    places = random.Random(_SEED).sample(range(len(units)), min(number, len(units)))
    return [units[place] for place in sorted(places)]
