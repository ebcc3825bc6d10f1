"""Functions and methods that start suites, by the names that they are imported from."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from scoregate.kernel.types.records import record


@record
class EntryPoint:
    """Functions that start a suite.

    Args:
        module: they can be imported from it.
        names: their names, each with the name of its parameter for the suite's id.
        foreign: they belong to another SDK, which reports over HTTP.
        closed: the reason why such suites can't be run; empty if they can.
        deep: they can be imported from modules below it, too.
    """

    module: str
    names: Mapping[str, str]
    foreign: bool = False
    closed: str = ""
    deep: bool = True

    def has(self, path: str) -> bool:
        """Whether one of the functions is at a dotted path."""
        module, _, name = path.rpartition(".")
        return name in self.names and (module == self.module or (self.deep and module.startswith(f"{self.module}.")))


PARTIAL = "functools.partial"
_NAMES = {"run_test_suite": "id", "RunManager": "test_id"}
_V2 = "it uses version 2 of Autoblocks' SDK, which reports only to its own platform"
ENTRY_POINTS = (
    EntryPoint("scoregate", {"evaluate": "name"}, deep=False),
    EntryPoint("scoregate.evals", {"evaluate": "name"}, deep=False),
    EntryPoint("scoregate.testing", _NAMES),
    EntryPoint("autoblocks.testing.v2", _NAMES, foreign=True, closed=_V2),
    EntryPoint("autoblocks.testing", _NAMES, foreign=True),
)


# Methods of a client that start a suite, as `client.offline_tests.run(…)`, whatever the client's name is.
_OFFLINE, _EVALUATION = "offline_tests", "evaluation"
_CLIENT_METHODS = {
    _OFFLINE: EntryPoint(_OFFLINE, {"run": "test_config"}),
    _EVALUATION: EntryPoint(_EVALUATION, {"run": "eval_run_name"}),
    # The call names a suite by its id, and its record by its name.
    "test_runs": EntryPoint("test_runs", {"start": ""}),
}
_CREATE = "create"
# Methods of tests and test sets that start a suite, as `test_set.execute(endpoint)`; its id is not in the call.
_ENTITY_METHODS = EntryPoint("scoregate.entities", {"execute": "", "rescore": ""})


def find_entry_point(path: str | None) -> EntryPoint | None:
    """The entry point at a dotted path."""
    return None if path is None else next((each for each in ENTRY_POINTS if each.has(path)), None)


def find_member_entry_point(call: ast.Call, names: Mapping[str, str]) -> EntryPoint | None:
    """The entry point if a call is one, as a method of a client, a test or a test set."""
    if not isinstance(call.func, ast.Attribute):
        return None
    if call.func.attr in _ENTITY_METHODS.names:
        arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
        # The first argument of these methods is an endpoint. A text is not one: `cursor.execute("SELECT 1")`.
        takes_endpoint = bool(arguments) and not isinstance(arguments[0], ast.Constant | ast.JoinedStr)
        return _ENTITY_METHODS if takes_endpoint and _imports_package(names, _ENTITY_METHODS.module) else None
    owner = call.func.value
    # `client.offline_tests.create(…).run(…)`.
    if isinstance(owner, ast.Call) and isinstance(owner.func, ast.Attribute) and owner.func.attr == _CREATE:
        owner = owner.func.value
    entry_point = _CLIENT_METHODS.get(owner.attr) if isinstance(owner, ast.Attribute) else None
    # In files that import judgeval, a client belongs to that SDK, which can't report to scoregate.
    if entry_point is None or call.func.attr not in entry_point.names or _imports_package(names, "judgeval"):
        return None
    # `offline_tests` is a word that only this SDK has; `evaluation.run` may be anything.
    return entry_point if entry_point.module == _OFFLINE or _imports_package(names, "scoregate") else None


def _imports_package(names: Mapping[str, str], package: str) -> bool:
    return any(path == package or path.startswith(f"{package}.") for path in names.values())


def id_parameter(entry_point: EntryPoint, path: str) -> str:
    """The parameter of an entry point for the id of its suite."""
    return entry_point.names[path.rpartition(".")[2]]
