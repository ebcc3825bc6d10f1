"""The models that a project names: in its settings, in the files of judges and suites, and in the base's calls."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from scoregate.features.costs.retirements import NamedModel
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.plan import Plan, SourceKind, SuiteSource
from scoregate.kernel.types.runs.model_calls import ModelCalls
from scoregate.kernel.types.runs.run import Run, SuiteResult

_MOST_FILES, _MOST_BYTES, _DEEPEST = 2_000, 1_000_000, 20
_STORE_FOLDERS = ("judges", "configs", "metrics", "suites", "endpoints")
_KEYS = ("model", "model_name", "judge_model")
_NAME = re.compile(r"[\w.:/@-]{2,100}", re.ASCII)


def list_named_models(plan: Plan, settings: Settings, base: Run | None) -> Iterator[NamedModel]:
    """The models that the suites of a plan name, each with the place; what does not run is left out.

    Args:
        plan: the plan.
        settings: the settings of the project.
        base: the base's run, whose evaluators and calls name models; None without one.
    """
    if settings.model is not None:
        yield NamedModel(settings.model, f"the setting `model` ({settings.origin('model')})")
    for source in (launch.source for launch in plan.launches):
        yield from _read_source(plan.root, source)
    yield from _read_store(plan.root)
    if base is not None:
        scripts = {launch.name for launch in plan.launches}
        named = (each for suite in base.suites if suite.script in scripts for each in _list_judges(suite))
        calls = (each for each in base.model_calls if each.suite in scripts)
        yield from leave_out_default((*named, *map(_name_call, calls)), settings, base)


def list_default_models(base: Run) -> tuple[str, ...]:
    """What the calls of a run asked that named no model: the project's model, or the defaults without one."""
    from scoregate.models.providers import DEFAULTS

    before = (base.settings or {}).get("model")
    return (before,) if isinstance(before, str) and before else DEFAULTS


def leave_out_default(named: Iterable[NamedModel], settings: Settings, base: Run) -> Iterator[NamedModel]:
    """The models of the base's run without its default models, if a setting names another default now."""
    if settings.model is None:
        yield from named
        return
    left_out = set[str]()
    for old in list_default_models(base):
        if old == settings.model:
            continue
        provider, slash, model = old.partition("/")
        # Calls may name the model without its provider, and the setting may leave out OpenAI's.
        left_out |= {old, model} if slash else {old, f"openai/{provider}"}
    yield from (each for each in named if each.name not in left_out)


def _name_call(calls: ModelCalls) -> NamedModel:
    return NamedModel(calls.model, f"{describe_caller(calls.evaluator)} of {calls.suite}", calls.provider)


def describe_caller(evaluator: str) -> str:
    """What calls a model: `judge correct`, `the code under test`."""
    return f"judge {evaluator}" if evaluator else "the code under test"


def _list_judges(suite: SuiteResult) -> Iterator[NamedModel]:
    for name, info in suite.evaluators.items():
        if info.fingerprint is not None and info.fingerprint.model:
            yield NamedModel(info.fingerprint.model, f"judge {name} of suite {suite.label}")


def _read_source(root: Path, source: SuiteSource) -> Iterator[NamedModel]:
    path = root / source.path
    if source.kind in (SourceKind.PYTHON, SourceKind.PYTEST):
        yield from (NamedModel(name, f"{source.path}:{line}") for name, line in _read_python(path))
    elif source.kind in (SourceKind.CONFIG, SourceKind.TESTSET):
        yield from (NamedModel(name, source.path) for name in _read_data(path))


def _read_python(path: Path) -> Iterator[tuple[str, int]]:
    """The literals that are given or assigned to a name or key such as `model`, each with its line."""
    try:
        tree = ast.parse(_read_text(path))
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):  # too deep nesting may be a MemoryError
        return
    for value in (value for node in ast.walk(tree) for value in _find_values(node)):
        if isinstance(value, ast.Constant) and isinstance(value.value, str) and _NAME.fullmatch(value.value):
            yield value.value, value.lineno


def _find_values(node: ast.AST) -> Iterator[ast.AST | None]:
    """What is given or assigned to a name or key such as `model`."""
    match node:
        case ast.keyword(arg=name, value=value) if name in _KEYS:
            yield value
        case ast.Assign(targets=targets, value=value) if any(getattr(each, "id", "") in _KEYS for each in targets):
            yield value
        case ast.AnnAssign(target=ast.Name(id=name), value=value) if name in _KEYS:
            yield value
        case ast.Dict(keys=keys, values=values):
            yield from (value for key, value in zip(keys, values, strict=True) if getattr(key, "value", "") in _KEYS)
        case ast.arguments():
            positional = [*node.posonlyargs, *node.args]
            with_default = positional[len(positional) - len(node.defaults) :]  # defaults belong to the last parameters
            names = (each.arg for each in (*with_default, *node.kwonlyargs))
            defaults = [*node.defaults, *node.kw_defaults]
            yield from (value for name, value in zip(names, defaults, strict=True) if name in _KEYS)


def _read_store(root: Path) -> Iterator[NamedModel]:
    """The models that stored judges, configs, metrics and test sets name."""
    folders = (root / ".scoregate" / name for name in _STORE_FOLDERS)
    paths = (path for folder in folders if folder.is_dir() for path in sorted(folder.rglob("*")))
    files = (path for path in paths if path.suffix in (".toml", ".json") and path.is_file())
    for path in islice(files, _MOST_FILES):
        place = path.relative_to(root).as_posix()
        yield from (NamedModel(name, place) for name in _read_data(path))


def _read_data(path: Path) -> Iterator[str]:
    """The models in a file of data, each once."""
    try:
        text = _read_text(path)
        data = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except (OSError, ValueError, RecursionError):
        return  # the run itself reports a file that it can't read
    yield from dict.fromkeys(_find_models(data, 0))


def _find_models(data: Any, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        return
    if isinstance(data, Mapping):
        for key, value in data.items():
            if key in _KEYS and _is_name(value):
                yield value
            else:
                yield from _find_models(value, depth + 1)
    elif isinstance(data, list):
        for each in data:
            yield from _find_models(each, depth + 1)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def _read_text(path: Path) -> str:
    with path.open("rb") as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise ValueError("too large")
    return data.decode("utf-8")


_SECRET = re.compile(r"""^\s*(\w+):\s*["']?\$\{\{\s*secrets\.(\w+)\s*\}\}""", re.MULTILINE)


def find_key_secrets(root: Path) -> dict[str, str]:
    """The variables with keys of models in the workflows of a repository, each with the name of its secret."""
    from scoregate.models.providers import PROVIDERS

    known = {name for provider in PROVIDERS.values() for name in provider.keys}
    found: dict[str, str] = {}
    for path in sorted((root / ".github" / "workflows").glob("*.y*ml")):
        try:
            text = _read_text(path) if path.is_file() else ""
        except (OSError, ValueError):
            continue
        for name, secret in _SECRET.findall(text):
            if name in known:
                found.setdefault(name, secret)
    return found
