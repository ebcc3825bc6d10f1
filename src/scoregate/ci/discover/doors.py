"""What a file must call to hold a suite, and the names under which it has it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Door:
    """Names that start a suite, wherever under `module` they are imported from; each with its parameter for the id.

    `foreign`: it is another SDK's, which reports over HTTP. `closed` says why it leads nowhere.
    """

    module: str
    names: Mapping[str, str]
    foreign: bool = False
    closed: str = ""


PARTIAL = "functools.partial"
_NAMES = {"run_test_suite": "id", "RunManager": "test_id"}
_V2 = "uses version 2 of Autoblocks' SDK, which reports to its own platform only"
DOORS = (
    Door("scoregate.testing", _NAMES),
    Door("autoblocks.testing.v2", _NAMES, foreign=True, closed=_V2),
    Door("autoblocks.testing", _NAMES, foreign=True),
)


# What a client has that starts a suite, as `client.offline_tests.run(…)`; whoever has a client under whatever name.
_OFFLINE, _EVALUATION = "offline_tests", "evaluation"
_CLIENTS = {
    _OFFLINE: Door(_OFFLINE, {"run": "test_config"}),
    _EVALUATION: Door(_EVALUATION, {"run": "eval_run_name"}),
}
_CREATE = "create"
# What tests and sets of them have that starts a suite, as `test_set.execute(endpoint)`; its id is not in the call.
_ENTITIES = Door("scoregate.entities", {"execute": "", "rescore": ""})


def known_names(tree: ast.AST) -> dict[str, str]:
    """Every name that an import binds, anywhere in the file, or that is another name for a door: what each stands for.

    `run = run_test_suite` and `run = partial(run_test_suite, …)` make such other names.
    """
    names = {name: path for node in ast.walk(tree) for name, path in _bound(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and door_to(path := dotted(_partially(node.value, names), names)) is not None:
            names |= {target.id: path or "" for target in node.targets if isinstance(target, ast.Name)}
    return names


def _partially(node: ast.expr, names: Mapping[str, str]) -> ast.expr:
    """The function that `functools.partial` is given, else the expression itself."""
    if isinstance(node, ast.Call) and node.args and dotted(node.func, names) == PARTIAL:
        return node.args[0]
    return node


def _bound(node: ast.AST) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield (alias.asname, alias.name) if alias.asname else (alias.name.partition(".")[0],) * 2
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        for alias in node.names:
            if alias.name == "*":
                yield from ((name, f"{node.module}.{name}") for door in DOORS for name in door.names)
            else:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def dotted(node: ast.expr, names: Mapping[str, str]) -> str | None:
    """What an expression stands for; None where it does not begin with an imported name."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute) and (left := dotted(node.value, names)) is not None:
        return f"{left}.{node.attr}"
    return None


def door_to(path: str | None) -> Door | None:
    """The door that a dotted path names."""
    if path is None:
        return None
    name = path.rpartition(".")[2]
    return next((door for door in DOORS if path.startswith(f"{door.module}.") and name in door.names), None)


def member_door(call: ast.Call, names: Mapping[str, str]) -> Door | None:
    """The door that a member of something is which the user made: of a client, of a test, of a set of them."""
    if not isinstance(call.func, ast.Attribute):
        return None
    if call.func.attr in _ENTITIES.names:
        return _ENTITIES if _takes_endpoint(call) and _imports(names, _ENTITIES.module) else None
    return _client_door(call.func, names)


def _takes_endpoint(call: ast.Call) -> bool:
    """A text, as databases are given, is none."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return bool(given) and not isinstance(given[0], ast.Constant | ast.JoinedStr)


def _client_door(member: ast.Attribute, names: Mapping[str, str]) -> Door | None:
    """In files that import judgeval a client is that one's, which knows no host."""
    owner = member.value
    if isinstance(owner, ast.Call) and isinstance(owner.func, ast.Attribute) and owner.func.attr == _CREATE:
        owner = owner.func.value
    door = _CLIENTS.get(owner.attr) if isinstance(owner, ast.Attribute) else None
    if door is None or member.attr not in door.names or _imports(names, "judgeval"):
        return None
    return door if door.module == _OFFLINE or _imports(names, "scoregate") else None


def _imports(names: Mapping[str, str], package: str) -> bool:
    return any(path == package or path.startswith(f"{package}.") for path in names.values())


def id_parameter(door: Door, path: str) -> str:
    """The parameter by which a dotted path to a door takes the id of its suite."""
    return door.names[path.rpartition(".")[2]]
