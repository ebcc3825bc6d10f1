"""The architecture: which package may import which, no cycles, no module that is too long or too small."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from scoregate.features.steps import load_all_steps
from scoregate.features.table import FEATURES
from scoregate.kernel.job.steps import Step

SOURCE = Path(__file__).parent.parent / "src"
LONGEST_FILE = 400
LONGEST_FUNCTION = 40
SHORTEST_WITH_ONE_IMPORTER = 80

BASE = {"errors", "kernel.types", "version"}
# What each package of the kernel may import besides those before it. `run` and `report` never import each other.
KERNEL = ("kernel.types", "kernel.compare", "kernel.gate", "kernel.host", "kernel.judge")
SHARED = BASE | set(KERNEL)
# Their loose modules use their packages, and are used by them.
OPEN = ("kernel.host", "kernel.job", "kernel.judge", "kernel.run")
# What a package may import besides itself.
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "exceptions": {"errors"},
    "version": set(),
    "enums": set(),
    "models": BASE,
    "store": BASE | {"kernel.compare"},
    "engine": BASE | {"kernel.compare"},
    "grading": BASE | {"engine", "enums", "models"},
    "judges": BASE | {"engine", "grading", "models", "store"},
    "testing": BASE | {"engine", "grading", "models", "store"},
    "datasets": BASE | {"store"},
    "evals": BASE | {"datasets", "engine", "kernel.compare", "offline_tests", "store"},
    "scorers": BASE | {"agents", "engine", "grading", "models"},
    "agents": BASE,
    "mcp_servers": BASE | {"agents", "engine", "kernel.compare", "models"},
    "skills": BASE | {"agents", "evals", "scorers"},
    "convert": BASE | {"datasets", "evals", "kernel.host", "scorers"},
    "trace_files": BASE | {"kernel.run", "store"},
    "pytest_plugin": BASE | {"engine", "evals"},
    "offline_tests": BASE | {"datasets", "engine", "grading", "judges", "store"},
    "endpoints": BASE | {"engine", "enums", "mcp_servers", "models", "store"},
    "metrics": BASE | {"engine", "enums", "grading", "models", "store"},
    "entities": BASE | {"endpoints", "engine", "enums", "execution", "grading", "metrics", "models", "store"},
    "execution": BASE | {"endpoints", "engine", "enums", "grading", "metrics", "models", "store"},
    "synthesizers": BASE | {"engine", "entities", "enums", "grading", "models", "store"},
    "web": BASE | {"kernel.compare", "kernel.judge", "kernel.report", "store"},
    "client": BASE | {"datasets", "judges", "offline_tests", "store"},
    "worker": BASE | {"client", "engine", "entities", "skills", "store"},
    "kernel.types": {"errors"},
    "kernel.compare": {"errors", "kernel.types"},
    "kernel.gate": {"errors", "kernel.compare", "kernel.types"},
    "kernel.host": {"errors", "kernel.types"},
    "kernel.judge": SHARED | {"features.declarations"},
    "kernel.run": SHARED | {"store"},
    "kernel.report": SHARED,
    "kernel.job": SHARED | {"features.declarations", "kernel.report", "kernel.run", "store"},
    "features": SHARED
    | {"features.declarations", "kernel.job", "kernel.report", "kernel.run", "mcp_servers", "models", "store"},
    "features.declarations": BASE,
    "cli": SHARED
    | {"kernel.job", "kernel.report", "kernel.run"}
    | {"client", "convert", "datasets", "entities", "features", "features.declarations", "judges", "scorers"}
    | {"store", "synthesizers", "trace_files", "web"},
}
# Short modules with one importer in their own package, and why they are modules of their own.
SMALL_MODULES: dict[str, str] = {
    "scoregate.kernel.judge.archive.columns_schema": "only large runs need it, and it imports pydantic's models",
    "scoregate.cli.affected": "a rule without state, tested by itself",
    "scoregate.evals.media_files": "the rule which files rows may name, tested by itself",
    "scoregate.evals.pydantic_scorers": "only users of pydantic_evals need it",
    "scoregate.mcp_servers.http_client": "only servers with an address need it",
    "scoregate.store.traces": "one module for each collection of the store",
    "scoregate.testing.util": "users import it",
    "scoregate.trace_files.braintrust": "one module for each format",
    "scoregate.trace_files.phoenix": "one module for each format",
}


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(SOURCE.rglob("*.py"))}


def is_declaration(module: str) -> bool:
    """Whether settings import it: the table of features, and what each declares."""
    return module.startswith("scoregate.features.") and module.rpartition(".")[2] in ("declare", "table")


def unit_of(module: str) -> str:
    """The part of a module's name that the tables use: `store`, `kernel.report`."""
    parts = module.split(".")[1:]
    if is_declaration(module):
        return "features.declarations"
    return ".".join(parts[:2] if parts[:1] == ["kernel"] else parts[:1])


def package_of(module: str) -> str:
    """The package a module is in; one at the top, loose in `OPEN` packages, or with declarations counts as its own."""
    parts = module.split(".")
    is_alone = len(parts) <= 2 or (".".join(parts[1:-1]) in OPEN) or is_declaration(module)
    return module if is_alone or MODULES[module].name == "__init__.py" else ".".join(parts[:-1])


@cache
def tree_of(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


@cache
def imports_of(module: str) -> frozenset[str]:
    names: set[str] = set()
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names} & MODULES.keys()
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "scoregate":
            names |= {f"{node.module}.{alias.name}" for alias in node.names} & MODULES.keys() or {node.module}
    return frozenset(names - {module})


def cycles(graph: Mapping[str, set[str]]) -> list[str]:
    """The nodes of a graph that are left when those that lead nowhere are removed, again and again."""
    left = {node: set(targets) for node, targets in graph.items()}
    while ends := [node for node, targets in left.items() if not targets & left.keys()]:
        for node in ends:
            del left[node]
    return sorted(left)


def functions_of(module: str) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree_of(module)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def body_length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a function without its signature and docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (function.end_lineno or 0) - body[0].lineno + 1 if body else 0


def undocumented(module: str) -> Iterator[str]:
    tree = tree_of(module)
    if not ast.get_docstring(tree):
        yield module
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    # A hook is described once, in the class that does nothing.
    documented = [each for each in classes if not {"Step", "LaunchLayer"} & set(map(ast.unparse, each.bases))]
    members = (node for owner in documented if not owner.name.startswith("_") for node in owner.body)
    for node in (*tree.body, *members):
        is_definition = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if is_definition and "overload" in map(ast.unparse, node.decorator_list):
            continue  # the function itself is described
        if is_definition and not node.name.startswith("_") and not ast.get_docstring(node):
            yield f"{module}.{node.name}"


def test_packages_import_only_what_they_may() -> None:
    invalid = [
        f"{module} imports {target}"
        for module in MODULES
        if unit_of(module) not in ("", "kernel", "__main__")
        for target in sorted(imports_of(module))
        if unit_of(target) not in MAY_IMPORT[unit_of(module)] | {unit_of(module), ""}
    ]
    assert invalid == []


def test_modules_have_no_import_cycles() -> None:
    assert cycles({module: set(imports_of(module)) for module in MODULES}) == []


def test_packages_have_no_import_cycles() -> None:
    graph: dict[str, set[str]] = defaultdict(set)
    for module in MODULES:
        graph[package_of(module)] |= {package_of(target) for target in imports_of(module)} - {package_of(module)}
    assert cycles(graph) == []


def names_in(module: str) -> Iterator[str]:
    """All attributes, variables, arguments and texts of a module; an f-string has texts, too.

    A declaration names the setting that it follows in lists. Without that one, it is at the end.
    """
    keywords = (node for node in ast.walk(tree_of(module)) if isinstance(node, ast.keyword))
    neighbours = {node.value for node in keywords if node.arg in ("after", "below")}
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.keyword | ast.arg):
            yield node.arg or ""
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in neighbours:
            yield node.value.partition(".")[0]


def settings_in(module: str) -> Iterator[str]:
    """The attributes of settings that a module reads."""
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value).rpartition(".")[2] == "settings":
            yield node.attr


def test_only_its_folder_names_the_settings_of_a_feature() -> None:
    owners = {each.name: feature.name for feature in FEATURES for each in (*feature.limits, *feature.settings)}
    assert owners
    strangers = [
        f"{module} names {name}"
        for module in MODULES
        for name in {*settings_in(module), *(each for each in names_in(module) if "_" in each)} & owners.keys()
        if not module.startswith(f"scoregate.features.{owners[name]}.")
    ]
    assert strangers == []


# What commands print of features besides the reports, and what it is.
IMPORTED_FEATURES = {
    ("scoregate.cli.compare_command", "exemptions"): "the entries of the working tree",
    ("scoregate.cli.compare_command", "variants"): "the rankings of the runs that it compares",
    ("scoregate.cli.accept_command", "exemptions"): "the command that writes entries",
    ("scoregate.cli.case_options", "exemptions"): "`--select` of cases that are in quarantine",
    ("scoregate.cli.view_command", "exemptions"): "the entries of the working tree, and their files",
    ("scoregate.cli.answer_command", "comments"): "the command that answers them",
    ("scoregate.cli.gateway_command", "gateway"): "the command that only serves it",
    ("scoregate.cli.history_command", "history"): "the command of the history",
    ("scoregate.cli.history_options", "history"): "its options",
    ("scoregate.cli.progress_state", "gateway"): "the calls so far, while suites run",
    ("scoregate.cli.merge_command", "drift"): "that runs which aren't shards were merged without their controls",
    ("scoregate.cli.publish_command", "comments"): "publishes the runs that they started",
    ("scoregate.cli.publish_command", "forks"): "publishes their runs",
    ("scoregate.cli.recovery", "cluster"): "the parts that a killed run has left",
    ("scoregate.cli.blame_command", "interventions"): "the search that it runs",
    ("scoregate.cli.mutate_command", "interventions"): "what it measures",
    ("scoregate.cli.init_command", "costs"): "the keys of the models that files name",
    ("scoregate.cli.list_command", "costs"): "models that are retired",
    ("scoregate.cli.plan_command", "costs"): "the estimate, which is what it prints",
    ("scoregate.cli.plan_estimate", "costs"): "the same",
    ("scoregate.cli.run_gate", "history"): "runs are kept before `keep_runs` deletes them",
    ("scoregate.cli.skipped_run", "skip_label"): "ends a job",
}


def feature_of(module: str) -> str:
    """The feature that a module is a part of; empty for the kernel, the table, and what loads the steps."""
    parts = module.split(".")
    return parts[2] if parts[1:2] == ["features"] and len(parts) > 2 and parts[2] not in ("table", "steps") else ""


def test_the_methods_of_a_step_are_hooks() -> None:
    """The kernel would never call another one, such as a hook that has got another name."""
    strangers = {
        f"{step.name}: {name}"
        for step in load_all_steps()
        for name in vars(type(step))
        if not name.startswith("_") and not hasattr(Step, name) and name != "name"
    }
    assert strangers == set()


def test_nothing_but_the_table_imports_a_feature() -> None:
    imported = {
        (module, feature_of(target))
        for module in MODULES
        for target in imports_of(module)
        if feature_of(target) not in ("", feature_of(module)) and module != "scoregate.features.table"
    }
    assert imported == IMPORTED_FEATURES.keys()


def test_files_and_functions_are_not_too_long() -> None:
    lengths = {module: len(path.read_text(encoding="utf-8").splitlines()) for module, path in MODULES.items()}
    assert {module: length for module, length in lengths.items() if length > LONGEST_FILE} == {}
    bodies = {f"{module}.{node.name}": body_length(node) for module in MODULES for node in functions_of(module)}
    assert {name: length for name, length in bodies.items() if length > LONGEST_FUNCTION} == {}


def test_a_module_with_one_importer_in_its_package_is_not_small() -> None:
    importers: dict[str, set[str]] = defaultdict(set)
    for module in MODULES:
        for target in imports_of(module):
            importers[target].add(module)
    small = {
        module
        for module, path in MODULES.items()
        if path.name != "__init__.py"
        and not module.startswith("scoregate.features.")  # its files have the same names in every feature
        and len(path.read_text(encoding="utf-8").splitlines()) < SHORTEST_WITH_ONE_IMPORTER
        and len(importers[module]) == 1
        and package_of(next(iter(importers[module]))) == package_of(module)
    }
    assert small == SMALL_MODULES.keys()


def test_public_names_have_docstrings() -> None:
    assert [name for module in MODULES for name in undocumented(module)] == []


def test_contributing_lists_every_package() -> None:
    text = (SOURCE.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    names = re.findall(r"^\| `([\w/]+)/` \|", text, re.MULTILINE)
    folders = (path.parent.relative_to(SOURCE / "scoregate").as_posix() for path in SOURCE.rglob("__init__.py"))
    assert sorted(names) == sorted(folder for folder in folders if folder != ".")


def test_the_architecture_page_names_what_exists() -> None:
    text = (SOURCE.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w/]+)\.py(?:: (\w+))?`", text)
    definitions = {
        f"{module.removeprefix('scoregate.').replace('.', '/')}: {node.name}"
        for module in MODULES
        for node in tree_of(module).body
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert len(named) > 20
    for path, name in named:
        if not path.startswith("tests/"):
            assert (SOURCE / "scoregate" / f"{path}.py").is_file(), path
            assert not name or f"{path.removesuffix('/__init__')}: {name}" in definitions, f"{path}: {name}"


def documented_arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    section = re.search(r"^Args:\n((?:    .*\n?|\n)*)", ast.get_docstring(function) or "", re.MULTILINE)
    return {
        name.lstrip("*") for name in re.findall(r"^    ([^\s:][^:\n]*):", section[1] if section else "", re.MULTILINE)
    }


def test_documented_arguments_exist() -> None:
    invalid = []
    for module in MODULES:
        for function in functions_of(module):
            arguments = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
            unknown = documented_arguments(function) - arguments
            invalid += [f"{module}.{function.name}: {name}" for name in sorted(unknown)]
    assert invalid == []
