"""Prompts in files: templates that are filled with the input of a case."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scoregate.errors import InvalidSuite, MissingExtra
from scoregate.kernel.types.media import Media
from scoregate.kernel.types.records import record

if TYPE_CHECKING:
    from jinja2.sandbox import SandboxedEnvironment

_MOST_BYTES = 1_000_000
_ROLE = "role"


@record
class Prompt:
    """A template in Jinja's language. In a template that is JSON, each text is a template of its own.

    Attributes:
        text: the template.
    """

    text: str

    def render(self, values: Mapping[str, Any]) -> str | list[dict[str, Any]]:
        """The messages if the template is a JSON list of messages, otherwise the text.

        Args:
            values: the values of the template's variables.

        Raises:
            InvalidSuite: the template is invalid.
        """
        document = parse_document(self.text)
        if is_chat(document):
            return [dict(each) for each in _render_all(document, values)]
        return self.render_text(values)

    def render_text(self, values: Mapping[str, Any]) -> str:
        """The text, with messages as JSON.

        Args:
            values: the values of the template's variables.

        Raises:
            InvalidSuite: the template is invalid.
        """
        if (document := parse_document(self.text)) is not None:
            return json.dumps(_render_all(document, values), indent=2, ensure_ascii=False)
        return render_template(self.text, values)


def read_prompt(path: str | Path) -> Prompt:
    """Read a prompt.

    Args:
        path: the file, in UTF-8.

    Raises:
        InvalidSuite: the file can't be read.
    """
    try:
        with Path(path).open(encoding="utf-8") as file:
            text = file.read(_MOST_BYTES + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSuite(f"the prompt {path} can't be read: {error}") from None
    if len(text) > _MOST_BYTES:
        raise InvalidSuite(f"the prompt {path} is longer than {_MOST_BYTES:,} characters")
    return Prompt(text)


def render_template(text: str, values: Mapping[str, Any]) -> str:
    """Fill a template. A variable without a value is empty. A list has commas, an object is JSON.

    Raises:
        InvalidSuite: the template is invalid.
    """
    from jinja2 import TemplateError

    try:
        return str(_make_environment().from_string(text).render(dict(values)))
    except (TemplateError, RecursionError, TypeError, ValueError) as error:
        raise InvalidSuite(f"the template {text!r:.60} can't be filled: {error}") from None


def parse_document(text: str) -> Any:
    """The JSON object or list that a template is; None if it is another text."""
    if not text.lstrip().startswith(("[", "{")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def is_chat(document: Any) -> bool:
    """Whether a value is a list of messages."""
    return isinstance(document, list) and bool(document) and all(isinstance(x, dict) and _ROLE in x for x in document)


def _render_all(value: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        return render_template(value, values)
    if isinstance(value, list):
        return [_render_all(each, values) for each in value]
    if isinstance(value, dict):
        return {key: _render_all(each, values) for key, each in value.items()}
    return value


def format_value(value: Any) -> Any:
    """A value as a template writes it: a list with commas, an object as JSON, and nothing for None."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, list):
        return ",".join(str(format_value(each)) for each in value)
    if isinstance(value, Media):
        raise ValueError(f"{value!r} is not text: give the task a function that sends it to the model")
    if isinstance(value, bool | dict):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return value


@cache
def _make_environment() -> SandboxedEnvironment:
    try:
        from jinja2 import ChainableUndefined
        from jinja2.sandbox import SandboxedEnvironment
    except ImportError:
        raise MissingExtra(
            "prompts need the package jinja2, which is not installed", advice="Run: pip install 'scoregate[judges]'"
        ) from None
    environment = SandboxedEnvironment(
        undefined=ChainableUndefined, finalize=format_value, keep_trailing_newline=True, autoescape=False
    )
    environment.filters["dump"] = _dump
    return environment


def _dump(value: Any) -> str:
    from jinja2 import Undefined

    return "" if isinstance(value, Undefined) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def find_unknown_parts(text: str) -> list[str]:
    """The parts of a template that Jinja doesn't know, or knows with another meaning than nunjucks.

    Returns:
        Texts such as "the filter nl2br"; for a template that is invalid, the problem.
    """
    from jinja2 import TemplateError, nodes

    try:
        tree = _make_environment().parse(text)
    except (TemplateError, RecursionError) as error:
        return [str(error)]
    parts = [f"the filter {each.name}" for each in tree.find_all(nodes.Filter) if each.name not in FILTERS]
    parts += [f"the test `is {each.name}`" for each in tree.find_all(nodes.Test) if each.name not in ("defined",)]
    parts += [f"a call of {_name(each.node)}" for each in tree.find_all(nodes.Call)]
    kinds = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends, nodes.Macro, nodes.CallBlock)
    parts += [f"the statement {type(each).__name__.lower()}" for each in tree.find_all(kinds)]
    parts += ["the variable env" for each in tree.find_all(nodes.Name) if each.name == "env"]
    return list(dict.fromkeys(parts))


def _name(node: Any) -> str:
    return str(getattr(node, "name", None) or getattr(node, "attr", None) or "a value")


# Filters with the same meaning in nunjucks and Jinja.
FILTERS = (
    *("abs", "capitalize", "default", "dump", "e", "escape", "first", "float", "int", "join", "last", "length"),
    *("list", "lower", "replace", "reverse", "safe", "string", "title", "trim", "truncate", "upper", "urlencode"),
)
