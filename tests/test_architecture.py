"""The house as it was designed: who may import whom, no circles, no large rooms."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src"
LONGEST_FILE = 250
LONGEST_FUNCTION = 40

GROUND = {"errors", "core", "version"}
PLAIN = {
    "ci.accounts",
    "ci.archive",
    "ci.champions",
    "ci.child",
    "ci.conditions",
    "ci.commit_files",
    "ci.git",
    "ci.github",
    "ci.identity",
    "ci.isolation",
    "ci.interpreter",
    "ci.needs",
    "ci.plan",
    "ci.policies",
    "ci.reuse",
    "ci.secrets",
    "ci.settings",
    "ci.unless",
}
STAGES = {"ci.discover", "ci.baseline", "ci.importers", "ci.install", "ci.launch", "ci.listen", "ci.report"}
GLUE = {
    "ci.adapt",
    "ci.base_settings",
    "ci.confirm",
    "ci.discovery",
    "ci.extra_cost",
    "ci.flow",
    "ci.lines",
    "ci.live",
    "ci.merging",
    "ci.parts",
    "ci.protection",
    "ci.recorder",
    "ci.recording",
    "ci.remember",
    "ci.reporting",
    "ci.resume",
    "ci.scene",
    "ci.second_stage",
    "ci.wiring",
}
# A room, and what it may import besides itself and the package's version.
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "version": set(),
    "core": {"errors"},
    "models": GROUND,
    "store": GROUND,
    "engine": GROUND,
    "judging": GROUND | {"models"},
    "judges": GROUND | {"engine", "judging", "models", "store"},
    "testing": GROUND | {"engine", "judging", "models", "store"},
    "datasets": GROUND | {"store"},
    "offline_tests": GROUND | {"datasets", "engine", "judges", "judging", "store"},
    "enums": set(),
    "endpoints": GROUND | {"engine", "enums", "store"},
    "metrics": GROUND | {"engine", "enums", "judging", "models", "store"},
    "conversations": GROUND | {"judging", "models"},
    "entities": GROUND | {"conversations", "endpoints", "engine", "enums", "judging", "metrics", "models", "store"},
    "synthesizers": GROUND | {"engine", "entities", "enums", "judging", "models"},
    "loopback": GROUND,
    "review": GROUND | {"loopback", "store"},
    "viewing": GROUND | {"ci.archive", "ci.report", "loopback"},
    "client": GROUND | {"datasets", "judges", "offline_tests", "store"},
    "worker": GROUND | {"client", "engine", "entities", "store"},
    **dict.fromkeys(PLAIN, GROUND | PLAIN),
    **dict.fromkeys(STAGES, GROUND | PLAIN),
    "ci.book": GROUND | PLAIN | {"store"},
    "ci.discover": GROUND | PLAIN | {"store"},
    "ci.since": GROUND | {"store"},
    "ci.publish": GROUND | PLAIN | {"ci.report"},
    **{room: GROUND | PLAIN | STAGES | GLUE | {"ci.book", "ci.publish", "ci.since"} for room in GLUE},
    "cli": GROUND
    | PLAIN
    | STAGES
    | GLUE
    | {
        "ci.publish",
        "client",
        "datasets",
        "entities",
        "judges",
        "loopback",
        "review",
        "store",
        "synthesizers",
        "viewing",
    },
}
MODULES = sorted(SOURCE.rglob("*.py"))


def name_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str:
    parts = module.split(".")[1:]
    if not parts or parts == ["__main__"]:
        return ""
    return ".".join(parts[:2]) if parts[0] == "ci" and len(parts) > 1 else parts[0]


def imports(path: Path) -> Iterator[str]:
    known = {name_of(module) for module in MODULES}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "scoregate":
            submodules = {f"{node.module}.{alias.name}" for alias in node.names} & known
            yield from submodules or {node.module}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_room_imports_only_what_it_may(path: Path) -> None:
    room = room_of(name_of(path))
    if room in ("", "ci"):
        return
    allowed = MAY_IMPORT[room] | {room, ""}
    assert {name for name in imports(path) if room_of(name) not in allowed} == set()


def test_no_module_imports_itself_over_others() -> None:
    graph = {name_of(path): set(imports(path)) - {name_of(path)} for path in MODULES}
    while leaves := [module for module, targets in graph.items() if not targets & graph.keys()]:
        for leaf in leaves:
            del graph[leaf]
    assert sorted(graph) == []


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_is_small_and_says_what_it_is_for(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    assert ast.get_docstring(tree), "no docstring"
    assert len(text.splitlines()) <= LONGEST_FILE
    assert [f.name for f in functions if len_of_body(f) > LONGEST_FUNCTION] == []


def len_of_body(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a function without its signature and docstring: what a reader has to follow."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (function.end_lineno or 0) - body[0].lineno + 1 if body else 0


def test_the_halves_of_the_typical_module_and_function_are_short() -> None:
    lengths = sorted(len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES)
    bodies = sorted(
        len_of_body(node)
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    assert lengths[len(lengths) // 2] <= 100
    assert bodies[len(bodies) // 2] <= 10


def test_every_public_name_is_documented() -> None:
    missing = [f"{name_of(path)}.{node.name}" for path in MODULES for node in undocumented(path)]
    assert missing == []


def undocumented(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    members = (node for owner in classes if not owner.name.startswith("_") for node in owner.body)
    for node in (*tree.body, *members):
        is_definition = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if is_definition and not node.name.startswith("_") and not ast.get_docstring(node):
            yield node
