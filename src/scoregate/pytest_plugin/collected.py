"""The tests that are cases: their suites, identities and trials, and which of them run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, NamedTuple

import pytest

from scoregate.engine.environment import Selection, select_cases
from scoregate.engine.imports import relative_path
from scoregate.kernel.types.event_values import Origin
from scoregate.kernel.types.identity import bounded_name, digest, identify_case
from scoregate.kernel.types.json_io import to_stable_plain
from scoregate.kernel.types.suite import Case, Description
from scoregate.kernel.types.text import LONGEST_NAME, is_whole_number, replace_surrogates
from scoregate.pytest_plugin.langsmith_feedback import is_recorded, read_marks

MARK = FIXTURE = "scoregate"
TRIAL = "_scoregate_trial"
_LONGEST_SUITE = 200
_MOST_REPEATS = 1_000
# Values that pytest writes into the id of a parameter, unless they are long. For others it writes the parameter's name
# and a position.
_SHOWN = (str, bytes, int, float, bool, complex, type(None))


class Place(NamedTuple):
    """Where a test is recorded: its suite, its case and the number of its trial."""

    suite: str
    case: str
    repeat: int


PLACE = pytest.StashKey[Place]()


class Options(NamedTuple):
    """The arguments of a test's marks; None for one that no mark sets. Tags are those of all of its marks."""

    suite: str | None = None
    repeats: int | None = None
    tags: tuple[str, ...] = ()
    cluster: str | None = None


def read_options(item: pytest.Item) -> Options | None:
    """The arguments of the marks of a test, the nearest first; None if the test has neither mark nor fixture.

    A test with LangSmith's mark is a case, too.

    Raises:
        UsageError: a mark has other arguments.
    """
    marks = list(item.iter_markers(MARK))
    has_feedback = is_recorded(item)
    if not marks and not has_feedback and not _uses_fixture(item):
        return None
    options: dict[str, Any] = {}
    for mark in marks:
        _check_mark(mark, item)
        tags = (*options.get("tags", ()), *_read_tags(mark))
        options = {**mark.kwargs, **options, "tags": tuple(dict.fromkeys(tags))}
    return Options(**({**read_marks(item), **options} if has_feedback else options))


def _read_tags(mark: pytest.Mark) -> tuple[str, ...]:
    tags = mark.kwargs.get("tags", ())
    return (tags,) if isinstance(tags, str) else tuple(tags)


def _uses_fixture(item: pytest.Item) -> bool:
    """Whether a test uses the fixture of this plug-in, and not another one with its name."""
    fixtures = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    for definition in reversed(fixtures.get(FIXTURE, ())):
        if getattr(definition.func, "__module__", "") == __package__:
            return True
        if FIXTURE not in definition.argnames:
            return False
    return False


def _check_mark(mark: pytest.Mark, item: pytest.Item) -> None:
    suite, repeats = mark.kwargs.get("suite"), mark.kwargs.get("repeats")
    problem = ""
    if mark.args or mark.kwargs.keys() - set(Options._fields):
        given = [*map(repr, mark.args), *(f"{name}=…" for name in mark.kwargs.keys() - set(Options._fields))]
        problem = f"takes suite=…, repeats=…, tags=… and cluster=…, not {', '.join(given):.100}"
    elif suite is not None and not _is_name(suite):
        problem = f"suite must be a text, not {suite!r:.60}"
    elif suite is not None and len(suite) > _LONGEST_SUITE:
        problem = f"suite has more than {_LONGEST_SUITE} characters"
    elif repeats is not None and not (is_whole_number(repeats, 1) and repeats <= _MOST_REPEATS):
        problem = f"repeats must be a whole number from 1 to {_MOST_REPEATS:,}, not {repeats!r:.60}"
    problem = problem or _find_group_problem(mark)
    if problem:
        raise pytest.UsageError(f"{item.nodeid:.300}: @pytest.mark.scoregate: {problem}")


def _find_group_problem(mark: pytest.Mark) -> str:
    """What is wrong with the tags and the cluster of a mark; empty if nothing is."""
    tags, cluster = mark.kwargs.get("tags", ()), mark.kwargs.get("cluster")
    listed = (tags,) if isinstance(tags, str) else tags
    if not isinstance(listed, list | tuple) or not all(map(_is_name, listed)):
        return f"tags must be a list of texts, not {tags!r:.60}"
    return "" if cluster is None or _is_name(cluster) else f"cluster must be a text, not {cluster!r:.60}"


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and value.isprintable()


def repeat_test(metafunc: pytest.Metafunc, repeats: int | None) -> None:
    """Make a test of each trial of a case.

    Args:
        metafunc: the function, with all other parameters.
        repeats: the number of trials, if no mark sets it.
    """
    options = read_options(metafunc.definition)
    number = 1 if options is None else options.repeats or repeats or 1
    if number > 1:
        metafunc.fixturenames.append(TRIAL)
        metafunc.parametrize(TRIAL, range(number), ids=map(_trial_id, range(number)))


def _trial_id(repeat: int) -> str:
    return f"trial{repeat}"


@dataclass(slots=True)
class PlannedSuite:
    """A suite of this session: where it is defined, and the number of its trials."""

    origin: Origin | None = None
    trials: int = 0


@dataclass(slots=True)
class Plan:
    """What this session records: the suites by id, and the place of each test by its node id.

    `problems` are about the tests themselves, by suite.
    """

    suites: dict[str, PlannedSuite] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    problems: dict[str, list[str]] = field(default_factory=dict)


def place_tests(items: Iterable[pytest.Item]) -> None:
    """Choose suite and case of each test that is recorded, and store them with the test."""
    by_place: dict[Place, list[tuple[pytest.Item, str]]] = {}
    for item in items:
        options = read_options(item)
        if options is None:
            continue
        suite = options.suite or default_suite(item)
        name = find_name(item)
        place = Place(suite, _identify(item, name), find_parameters(item).get(TRIAL, 0))
        by_place.setdefault(place, []).append((item, name))
    for place, tests in by_place.items():
        for item, name in tests:
            # Parameters without a JSON form have one digest, so the id has to differ.
            item.stash[PLACE] = place if len(tests) == 1 else place._replace(case=bounded_name(name))


def default_suite(item: pytest.Item) -> str:
    """The dotted path of a test's file from the root of the project: `evals.test_hours`."""
    path = PurePath(relative_path(str(item.path))).with_suffix("")
    return bounded_name(replace_surrogates(".".join(part for part in path.parts if part != path.anchor)))


def find_name(item: pytest.Item) -> str:
    """The class, the function and the id of the parameters, without the number of the trial."""
    classes = [node.name for node in item.listchain() if isinstance(node, pytest.Class)]
    function = getattr(item, "originalname", None) or item.name
    parameters = _parameter_id(item)
    name = "::".join((*classes, f"{function}[{parameters}]" if parameters else function))
    return "".join(each if each.isprintable() else f"\\x{ord(each):02x}" for each in replace_surrogates(name))


def _parameter_id(item: pytest.Item) -> str:
    callspec = getattr(item, "callspec", None)
    if callspec is None:
        return ""
    parameter_id: str = callspec.id
    if TRIAL in callspec.params:
        parameter_id = parameter_id.removesuffix(_trial_id(callspec.params[TRIAL])).removesuffix("-")
    return parameter_id


def find_parameters(item: pytest.Item) -> dict[str, Any]:
    """The parameters of a test."""
    return dict(getattr(getattr(item, "callspec", None), "params", {}))


def describe_parameters(item: pytest.Item) -> Any:
    """The parameters as JSON, without the number of the trial; None without any."""
    given = {name: value for name, value in find_parameters(item).items() if name != TRIAL}
    try:
        return to_stable_plain(given) if given else None
    except (ValueError, RecursionError):
        return None


def _identify(item: pytest.Item, name: str) -> str:
    """The key of a case: its name, or instead of a position in a list the digest of its parameters.

    As in results that are imported from JUnit XML, so a case that is inserted leaves the others as they are.
    """
    given = {name: value for name, value in find_parameters(item).items() if name != TRIAL}
    shown = "-".join(map(str, given.values()))
    if not given or _parameter_id(item) == shown or (parameters := describe_parameters(item)) is None:
        return bounded_name(name)
    if any(_is_position(item, each, value) for each, value in given.items()):
        return bounded_name(f"{name.partition('[')[0]}[] {digest(parameters)}")
    return identify_case(name, parameters)


def _is_position(item: pytest.Item, parameter: str, value: Any) -> bool:
    """Whether the id has a position instead of the value of a parameter, as `row3`."""
    shown = _parameter_id(item)
    if isinstance(value, _SHOWN) and str(value) in shown:
        return False
    return any(part.startswith(parameter) and part[len(parameter) :].isdecimal() for part in shown.split("-"))


def plan_session(items: Sequence[pytest.Item]) -> Plan:
    """The plan for the tests that run."""
    plan, seen = Plan(), dict[Place, str]()
    for item in items:
        place = item.stash.get(PLACE, None)
        if place is None:
            continue
        suite = plan.suites.setdefault(place.suite, PlannedSuite(_origin(item, place.suite)))
        suite.trials += 1
        plan.places[item.nodeid] = place
        if (first := seen.setdefault(place, item.nodeid)) != item.nodeid:
            text = f"{first:.150} and {item.nodeid:.150} are one case {place.case:.100}: rename one, or set its suite"
            plan.problems.setdefault(place.suite, []).append(text)
        options = read_options(item)
        if options is not None and (options.repeats or 1) > 1 and TRIAL not in find_parameters(item):
            text = f"{item.nodeid:.150} can't be repeated: pytest passes no parameters to it"
            plan.problems.setdefault(place.suite, []).append(text)
    return plan


def _origin(item: pytest.Item, suite: str) -> Origin:
    own = find_origin(item)
    return Origin(own.file) if suite == default_suite(item) else own


def find_origin(item: pytest.Item) -> Origin:
    """The line of a test."""
    line = item.location[1]
    return Origin(relative_path(str(item.path)), (line or 0) + 1)


def select_tests(items: list[pytest.Item], selection: Selection, deselect: Callable[[list[pytest.Item]], None]) -> None:
    """Remove the tests of cases that are not selected, and put the selected first ones to the front.

    Args:
        items: the tests of the session, which are changed.
        selection: what to select. It has no effect on tests that are no cases.
        deselect: receives the tests that don't run.
    """
    suites: dict[str, dict[str, list[pytest.Item]]] = {}
    for item in items:
        if (place := item.stash.get(PLACE, None)) is not None:
            suites.setdefault(place.suite, {}).setdefault(place.case, []).append(item)
    kept = {id(item) for suite, cases in suites.items() for item in _select(suite, cases, selection)}
    gone = [item for item in items if PLACE in item.stash and id(item) not in kept]
    if gone:
        left_out = {id(item) for item in gone}
        items[:] = [item for item in items if id(item) not in left_out]
        deselect(gone)
    if selection.first:
        items.sort(key=lambda item: not _runs_first(item, selection))


def _select(suite: str, cases: dict[str, list[pytest.Item]], selection: Selection) -> Iterator[pytest.Item]:
    if selection.includes(suite):
        known = [Case(name, tests) for name, tests in cases.items()]
        for case in select_cases(known, suite, selection, _describe):
            yield from case.value


def _describe(case: Case) -> Description:
    item = case.value[0]
    options = read_options(item) or Options()
    return Description(find_name(item)[:LONGEST_NAME], None, tags=options.tags)


def _runs_first(item: pytest.Item, selection: Selection) -> bool:
    place = item.stash.get(PLACE, None)
    return place is not None and place.case in selection.first.get(place.suite, ())
