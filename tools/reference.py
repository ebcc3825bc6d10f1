"""Write the generated parts of the reference pages: `python tools/reference.py`, or `--check` to only compare.

A page holds `<!-- generated: NAME -->` and `<!-- end -->`; what is between them comes from the code: the commands and
their help texts, the settings and their descriptions, the inputs and outputs of the action, the schema of result.json.
"""

from __future__ import annotations

import ast
import enum
import importlib
import inspect
import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click
import yaml
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from scoregate.cli.main import COMMANDS, cli
from scoregate.kernel.judge.settings.limit_fields import (
    DECLARED_MODELS,
    FEATURE_LIMITS,
    FEATURE_SETTINGS,
    LIMITS,
    TABLE_SETTINGS,
)
from scoregate.kernel.judge.settings.setting_fields import SettingFields
from scoregate.kernel.types.declarations.declaration import Declared, Owner, Setting, insert_names
from scoregate.kernel.types.declarations.fields import GateSet

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))  # this file is run by its path, too

from tools.settings_schema import write_schema  # noqa: E402

PAGES = ROOT / "docs" / "reference"
SCHEMAS = (ROOT / "docs" / "scoregate.schema.json", ROOT / "src/scoregate/kernel/judge/settings/scoregate.schema.json")
LLMS = ROOT / "docs" / "llms.txt"
SOURCE = "https://raw.githubusercontent.com/scoregate/scoregate/main/docs/"
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
_SECTION = re.compile(r"(?<=<!-- generated: )([\w-]+)( -->\n).*?(?=^<!-- end -->)", re.DOTALL | re.MULTILINE)

# Every setting of the kernel belongs to one group; `list_settings` fails without it. Features say where theirs are:
# below another, else at `*`, else at the end.
GROUPS = {
    "What runs": (
        "working_directory paths suite config commands configs agent arms max_suites"
        " max_cases repeats timeout message approved"
    ),
    "The environment of suites": "env_file",
    "The base": "baseline base_branch base_runs require_baseline policy_from",
    "Gates": (
        "gates min_pass_rate pass_rate_confidence min_score max_drop * fail_on_regression"
        " fail_on_critical"
        " max_error_rate max_lost_scores max_cost max_cost_ratio max_tokens max_tokens_ratio max_p95_ms max_p95_ratio"
        " min_judge_agreement severity cluster suites"
    ),
    "The comparison": "alpha min_effect margin min_ratio evaluators",
    "Models": "model model_base_url model_headers cache prices",
    "People": "min_agreement min_overrides",
    "Reports": "out keep_runs comment show_outputs annotations key github_token",
}
# `evaluate` is on the page of its own package.
_NO_API = ("scoregate.__version__", "scoregate.evaluate")
# How the types of the settings read, by the way the code writes them.
TYPES = {
    "AgentPreset": "`claude`, `codex`, `gemini`, `opencode` or `copilot`",
    "AgentSettings": "table",
    "Annotated[Texts, AfterValidator(_check_paths), Field(alias='with', min_length=1)]": "list of texts",
    "ArmsSettings": "table",
    "EventFormat": "the name of a preset, or `text`",
    "ProjectPath": "text",
    "ApprovedText": "text",
    "Text": "text",
    "ClusterText": "text",
    "Texts": "list of texts",
    "NonNegativeInt": "whole number, 0 or more",
    "ProjectGlobs": "list of texts",
    "BaseRuns": "whole number from 1 to 20",
    "Count": "whole number, 1 or more",
    "Repeats": "whole number, 1 or more, or `auto`",
    "Factor": "number above 0",
    "GateSet": "`usual` or `strict`",
    "Seconds": "number above 0",
    "Amount": "number, 0 or more",
    "Number": "number",
    "Rate": "number from 0 to 1",
    "Confidence": "number from 0.5 to below 1",
    "bool": "`true` or `false`",
    "ByEvaluator": "number from 0 to 1, or a table of them",
    "RateByName": "table of numbers from 0 to 1",
    "SliceFields": "list of texts",
    "Cache": "text",
    "_Mode": "`off`, `on`, `record` or `replay`",
    "Mapping[str, GatewayProviderSettings]": "table of tables",
    "Comment": "`always`, `changes`, `failures` or `off`",
    "ShowOutputs": "`full` or `none`",
    "PolicySource": "`head` or `base`",
    "SecretStr": "text",
    "Words": "text, or list of texts",
    "ImportReference": "text",
    "VersionOrTag": "text or whole number",
    "Commands": "list of tables",
    "OfflineConfigs": "list of tables",
    "Annotated[Rate, Field(gt=0, lt=1)]": "number between 0 and 1",
    "Annotated[Texts, AfterValidator(check_imports)]": "list of texts",
    "Annotated[Texts, AfterValidator(check_inputs)]": "list of texts",
    "Bounds": "list of two numbers",
    "ThresholdSettings": "table",
    "Mapping[str, Text]": "table of texts",
    "Mapping[Text, Text]": "table of texts",
    "Mapping[str, PriceSettings]": "table of tables",
    "Mapping[str, EvaluatorSettings]": "table of tables",
    "RowSettings": "table",
    "Mapping[str, SuiteSettings]": "table of tables",
    "Mapping[RelaxableRule, Severity]": "table of `fail`, `warn` or `off`",
    "tuple[Mapping[Text, VersionOrTag], ...]": "list of tables",
}
# Settings that a file can't set, and settings that only a file can set.
NOT_IN_FILES = (
    *("working_directory", "github_token"),
    *(each.name for each in FEATURE_SETTINGS if each.owner is Owner.WORKFLOW),
)
TABLES = {
    "agent": "AgentSettings",
    "arms": "ArmsSettings",
    "commands": "Command",
    "configs": "OfflineConfig",
    "prices": "PriceSettings",
    "evaluators": "EvaluatorSettings",
    **{each.name: each.kind.table.__name__ for each in TABLE_SETTINGS},
}
NESTED_TABLES = {"commands": {"rows": "RowSettings"}}


def main() -> None:
    """Write all pages, or fail if one would change."""
    pages = {path: render(path.read_text("utf-8")) for path in sorted(PAGES.glob("*.md"))} | {LLMS: list_pages()}
    pages |= dict.fromkeys(SCHEMAS, write_schema(read_fields, NOT_IN_FILES))
    outdated = [path for path, text in pages.items() if not path.exists() or path.read_text("utf-8") != text]
    if "--check" in sys.argv and outdated:
        names = ", ".join(path.name for path in outdated)
        sys.exit(f"{names}: not up to date with the code. Run `python tools/reference.py` and commit the result.")
    for path in outdated:
        path.write_text(pages[path], "utf-8")


def render(page: str) -> str:
    """A page with its generated parts written anew."""
    return _SECTION.sub(lambda found: f"{found[1]}{found[2]}{SECTIONS[found[1]]()}\n", page)


# The command line


def list_commands() -> str:
    """Every command with every option, from the help texts."""
    context = click.Context(cli, info_name="scoregate")
    parts = []
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        parts += _describe(command, f"scoregate {name}", context, 2)
    return "\n".join(parts)


def _describe(command: click.Command, name: str, context: click.Context, level: int) -> Iterator[str]:
    own = click.Context(command, info_name=name.rpartition(" ")[2], parent=context)
    usage = " ".join([name, *command.collect_usage_pieces(own)])
    yield f"{'#' * level} {name}\n"
    yield _prose(command.help or "")
    if isinstance(command, click.Group):
        for each in command.list_commands(own):
            if found := command.get_command(own, each):
                yield from _describe(found, f"{name} {each}", own, level + 1)
        return
    yield f"Usage: `{usage}`\n"
    options = [option for option in command.params if isinstance(option, click.Option)]
    if options:
        yield "\n".join(_option(option, own) for option in options) + "\n"


def _option(option: click.Option, context: click.Context) -> str:
    shown = option.get_help_record(context)
    assert shown is not None, option.name
    names, text = shown
    repeated = " Repeatable." if option.multiple and "epeatable" not in text else ""
    return textwrap.indent(f"`{names}`:\n{_wrap(_escape(text) + repeated)}", "  ").replace("  ", "- ", 1)


def _prose(text: str) -> str:
    paragraphs = inspect.cleandoc(text).replace("\b\n", "").split("\n\n")
    return "\n\n".join(_wrap(_escape(" ".join(each.split()))) for each in paragraphs) + "\n"


def _escape(text: str) -> str:
    """Signs that Markdown would read, outside of code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([*<\[\]])", r"\\\1", part) for part in parts)


def _wrap(text: str) -> str:
    return textwrap.fill(text, 116, break_long_words=False, break_on_hyphens=False)


# Settings


def list_settings() -> str:
    """Every setting by group: what it does, its type and default, and where else it can be set."""
    groups = {group: _insert_declared(group, names) for group, names in GROUPS.items()}
    grouped = [name for names in groups.values() for name in names]
    known = SettingFields.model_fields.keys()
    assert sorted(grouped) == sorted(known), f"settings without a group, or unknown: {set(grouped) ^ known}"
    fields = read_fields(SettingFields)
    run = _flags()
    parts = []
    for group, names in groups.items():
        parts.append(f"## {group}\n")
        for name in names:
            parts += _setting(name, *fields[name], flag=run.get(name))
    return "\n".join(parts)


def _insert_declared(group: str, names: str) -> list[str]:
    """The settings of a group with those that features declare; limits are gates."""
    declared = [(each.name, "*") for each in FEATURE_LIMITS if group == "Gates"]
    declared += [(each.name, each.below or each.after or "*") for each in FEATURE_SETTINGS if group == each.group]
    return [name for name in insert_names(names.split(), declared) if name != "*"]


def _flags() -> dict[str, str]:
    command = cli.get_command(click.Context(cli), "run")
    assert command is not None
    return {
        option.name: "PATHS" if isinstance(option, click.Argument) else option.opts[-1]
        for option in command.params
        if option.name
    }


def _setting(name: str, kind: str, text: str, *, flag: str | None) -> Iterator[str]:
    yield f"### `{name}`\n"
    yield f"{_wrap(text)}\n"
    yield f"- Type: {kind}"
    yield f"- Default: {_default(SettingFields, name)}"
    others = [f"flag `{flag}`"] if flag else []
    dashed = name.replace("_", "-")
    others += [f"input `{dashed}`"] if dashed in ACTION["inputs"] else []
    others.append("variable `GITHUB_TOKEN`" if name == "github_token" else f"variable `SCOREGATE_{name.upper()}`")
    yield f"- {'Set by' if name in NOT_IN_FILES else 'Also'}: {', '.join(others)}"
    if name == "gates":
        for chosen in GateSet:
            values = (
                f"`{each.name} = {json.dumps(each.in_sets[chosen])}`" for each in LIMITS if chosen in each.in_sets
            )
            yield _wrap(f"- `{chosen}` sets {', '.join(values)}").replace("\n", "\n  ")
    if name == "suites":
        yield "- Keys: all gates above, and"
        yield from _keys("SuiteSettings", "LimitFields", "DeclaredLimits")
    elif table := TABLES.get(name):
        yield "- Keys:"
        yield from _keys(table)
        for key, nested in NESTED_TABLES.get(name, {}).items():
            yield f"- Keys of `{key}`:"
            yield from _keys(nested)
    yield ""


def _keys(table: str, *without: str) -> Iterator[str]:
    model = _model(table)
    for name, (kind, text) in read_fields(model, *without).items():
        default = _default(model, name)
        optional = "required" if default == "required" else kind if default == "not set" else f"{kind}; {default}"
        yield textwrap.indent(_wrap(f"- `{name}` ({optional}): {text}"), "    ").replace("\n    ", "\n      ")


def _model(name: str) -> type[BaseModel]:
    """A table of the settings, found among the types of the fields."""
    for module in [
        each for key, each in sys.modules.items() if key.startswith(("scoregate.kernel.judge", "scoregate.features"))
    ]:
        if isinstance(found := getattr(module, name, None), type) and issubclass(found, BaseModel):
            return found
    raise LookupError(name)


def _default(model: type[BaseModel], name: str) -> str:
    if name == "max_suites":
        return "the number of cores"
    field = next(each for key, each in model.model_fields.items() if _name_in_files(model, key) == name)
    if field.default is PydanticUndefined and field.default_factory is None:
        return "required"
    value = field.get_default(call_default_factory=True, validated_data={})
    if value in (None, (), {}):
        return "not set"
    short = next((each.kind.short for each in TABLE_SETTINGS if each.name == name), "")
    value = getattr(value, short) if short else value
    value = value.value if isinstance(value, enum.Enum) else value
    return f"`{json.dumps(value)}`"


def _name_in_files(model: type[BaseModel], name: str) -> str:
    return model.model_fields[name].alias or name


def read_fields(model: type[BaseModel], *without: str) -> dict[str, tuple[str, str]]:
    """The fields of a model, with their type in words and the description below them in the source."""
    found: dict[str, tuple[str, str]] = {}
    for each in reversed(model.__mro__):
        if not (issubclass(each, BaseModel) and each.__module__.startswith("scoregate.")) or each.__name__ in without:
            continue
        if each in DECLARED_MODELS:
            found |= {one.name: _describe_declared(one) for one in DECLARED_MODELS[each]}
            continue
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(each))).body
        assert isinstance(definition, ast.ClassDef)
        for field, below in zip(definition.body, [*definition.body[1:], None], strict=True):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                described = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
                text = str(below.value.value) if described else ""
                if text:
                    kind = TYPES[ast.unparse(field.annotation).removesuffix(" | None")]
                    found[_name_in_files(each, field.target.id)] = (kind, " ".join(text.split()))
    undescribed = [name for name in model.model_fields if _name_in_files(model, name) not in found]
    assert without or not undescribed, f"{model.__name__} has fields without a description: {undescribed}"
    return found


def _describe_declared(declared: Declared) -> tuple[str, str]:
    words, choices = declared.words if isinstance(declared, Setting) else "", declared.kind.choices
    if choices is not None and not words:
        *some, last = (f"`{each.value}`" for each in choices)
        words = f"{', '.join(some)} {'and' if declared.kind.is_list else 'or'} {last}"
        words = f"list of {words}" if declared.kind.is_list else words
    return words or TYPES[declared.kind.name], " ".join(declared.text.split())


# The action


def list_inputs() -> str:
    """Inputs of the action, from action.yml."""
    return "\n".join(_action_part(name, each) for name, each in ACTION["inputs"].items())


def list_outputs() -> str:
    """Outputs of the action, from action.yml."""
    return "\n".join(_action_part(name, each) for name, each in ACTION["outputs"].items())


def _action_part(name: str, part: Mapping[str, str]) -> str:
    default = f" Default: `{part['default']}`." if part.get("default") else ""
    text = _wrap(_escape(part["description"]) + default)
    setting = name.replace("-", "_")
    linked = f" ([setting](settings.md#{setting}))" if setting in SettingFields.model_fields else ""
    return textwrap.indent(f"`{name}`{linked}:\n{text}", "  ").replace("  ", "- ", 1)


# The Python API


def list_modules(*modules: str) -> str:
    """Public names of modules, for mkdocstrings to describe from their docstrings."""
    parts = []
    for module in modules:
        parts.append(f"## {module}\n")
        parts += [
            f"::: {module}.{name}\n"
            for name in importlib.import_module(module).__all__
            if not {name, f"{module}.{name}"} & {*_NO_API}
        ]
    return "\n".join(parts)


# result.json


def list_result() -> str:
    """Fields of result.json, from its schema."""
    schema = json.loads((ROOT / "docs" / "result.schema.json").read_text("utf-8"))
    parts = ["### The file\n", *_properties(schema, schema)]
    for name, definition in schema["$defs"].items():
        if "properties" in definition:
            parts.append(f"\n### {name}\n")
            parts += [f"{_wrap(definition['description'])}\n"] if definition.get("description") else []
            parts += _properties(definition, schema)
    return "\n".join(parts) + "\n"


def _properties(definition: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    required = definition.get("required", ())
    for name, each in definition["properties"].items():
        kind = _kind(each, schema)
        absent = "" if name in required else "; may be absent"
        shared = schema["$defs"].get(each.get("$ref", "").rpartition("/")[2], {})
        text = each.get("description") or ("" if "properties" in shared else shared.get("description", ""))
        line = f"`{name}` ({kind}{absent})" + (f": {text}" if text else "")
        yield textwrap.indent(_wrap(line), "  ").replace("  ", "- ", 1)


def _kind(each: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    if reference := each.get("$ref"):
        name = reference.rpartition("/")[2]
        definition = schema["$defs"][name]
        return f"[{name}](#{name})" if "properties" in definition else _kind(definition, schema)
    if "enum" in each:
        return "one of " + ", ".join(f"`{value}`" for value in each["enum"])
    if "const" in each:
        return f"`{each['const']}`"
    if options := each.get("anyOf"):
        return " or ".join(_kind(option, schema) for option in options)
    types = each.get("type", "anything")
    names = [types] if isinstance(types, str) else types
    words = [
        f"list of {_kind(each['items'], schema)}" if name == "array" and "items" in each else name for name in names
    ]
    return " or ".join(words)


# llms.txt


def list_pages() -> str:
    """All pages of the site, as llmstxt.org describes it: for language models, so with links to the Markdown."""
    # The configuration names Python functions, which only the site's generator may load.
    text = re.sub(r"!!python/name:\S+", "", (ROOT / "mkdocs.yml").read_text("utf-8"))
    parts = [
        "# scoregate\n",
        "> Evals as a gate on pull requests: run suites of LLM evals, compare every score with the base branch,",
        "> fail the job when scores drop. A Python package, a command line and a GitHub Action.\n",
    ]
    for entry in yaml.safe_load(text)["nav"]:
        ((title, value),) = entry.items()
        parts.append(f"## {title}\n")
        parts += [f"- [{name}]({SOURCE}{path})" for name, path in _leaves(title, value)]
        parts.append("")
    return "\n".join(parts)


def _leaves(title: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield title, value
        return
    for each in value:
        ((name, inner),) = each.items() if isinstance(each, dict) else ((title, each),)
        yield from _leaves(name, inner)


SECTIONS: dict[str, Callable[[], str]] = {
    "commands": list_commands,
    "settings": list_settings,
    "inputs": list_inputs,
    "outputs": list_outputs,
    "result": list_result,
    "python-evals": partial(
        list_modules, "scoregate.evals", "scoregate.scorers", "scoregate.agents", "scoregate.mcp_servers"
    ),
    "python-pytest": partial(list_modules, "scoregate.pytest_plugin"),
    "python-testing": partial(
        list_modules, "scoregate.testing.run", "scoregate.testing.models", "scoregate.testing.evaluators"
    ),
    "python-entities": partial(
        list_modules, "scoregate.entities", "scoregate.metrics", "scoregate.endpoints", "scoregate.synthesizers"
    ),
    "python-client": partial(
        list_modules, "scoregate", "scoregate.datasets", "scoregate.judges", "scoregate.offline_tests"
    ),
    "python-models": partial(list_modules, "scoregate.models"),
}

if __name__ == "__main__":
    main()
