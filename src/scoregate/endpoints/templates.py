"""Jinja templates in mappings, in a sandbox."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from jinja2 import StrictUndefined, Template, TemplateError, Undefined, meta, nodes, pass_context
from jinja2.runtime import Context as JinjaContext
from jinja2.sandbox import ImmutableSandboxedEnvironment, safe_range

from scoregate.endpoints.context import EndpointContext
from scoregate.endpoints.fillers import CONVERSATION_NAMES, OMITTED, Filler, RequestValues, check_names
from scoregate.store.secret_references import REFERENCE

_PYTHON_INTERNAL = re.compile(r"__\w+__")
_GLOBALS = {"range": safe_range, "dict": dict}


class Sandbox(ImmutableSandboxedEnvironment):
    """A sandbox in which a field of a dict wins over a method of the same name."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        """The field of a dict, else the attribute."""
        if isinstance(obj, dict) and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)


def sandbox(undefined: type[Undefined], **options: Any) -> Sandbox:
    """An environment in which a template can only reach its values."""
    environment = Sandbox(undefined=undefined, keep_trailing_newline=True, **options)
    environment.globals = dict(_GLOBALS)
    return environment


def parse_template(text: str, environment: Sandbox, endpoint: EndpointContext) -> nodes.Template:
    """Parse a template, and replace references to environment variables in its text.

    Raises:
        EndpointError: the template is invalid, uses names with double underscores, or a variable is not set.
    """
    try:
        tree = environment.parse(text)
    except TemplateError as error:
        endpoint.misconfigured(f"the template {text!r:.200} cannot be read: {error}")
    for node in tree.find_all((nodes.Getattr, nodes.Const, nodes.Name)):
        name = getattr(node, "attr", None) or getattr(node, "value", None) or getattr(node, "name", None)
        if isinstance(name, str) and _PYTHON_INTERNAL.fullmatch(name):
            endpoint.misconfigured(f"the template {text!r:.200} uses {name!r:.60}, which is not allowed")
    for output in tree.find_all(nodes.Output):
        output.nodes = [part for node in output.nodes for part in _resolve_references(node, endpoint)]
    return tree


def undeclared_names(tree: nodes.Template) -> set[str]:
    """The names that a template uses."""
    return meta.find_undeclared_variables(tree) - _GLOBALS.keys()


def single_expression(tree: nodes.Template) -> nodes.Expr | None:
    """The expression of a template that contains nothing else."""
    parts = tree.body[0].nodes if len(tree.body) == 1 and isinstance(tree.body[0], nodes.Output) else []
    return parts[0] if len(parts) == 1 and not isinstance(parts[0], nodes.TemplateData) else None


def compile_evaluator(tree: nodes.Template, environment: Sandbox) -> Callable[[RequestValues], Any]:
    """A function that renders a template: a single expression to its value, anything else to a text."""
    if (expression := single_expression(tree)) is None:
        return compile_renderer(tree, environment)
    # Rendering makes a text of each value; an assignment keeps its type.
    target = nodes.Name("result", "store", lineno=1)
    template = _compile(nodes.Template([nodes.Assign(target, expression, lineno=1)], lineno=1), environment)

    def evaluate(context: RequestValues) -> Any:
        jinja_context = template.new_context(dict(context))
        for _ in template.root_render_func(jinja_context):
            pass
        return jinja_context.vars["result"]

    return evaluate


def compile_renderer(tree: nodes.Template, environment: Sandbox) -> Callable[[RequestValues], str]:
    """A function that renders a template to a text."""
    return _compile(tree, environment).render


def _compile(tree: nodes.Template, environment: Sandbox) -> Template:
    tree.set_environment(environment)
    code = environment.compile(tree)
    return Template.from_code(environment, code, environment.globals)


def _resolve_references(node: nodes.Expr, endpoint: EndpointContext) -> Iterator[nodes.Expr]:
    """The parts of a text and the values of its references. Values are not parsed as templates."""
    if not isinstance(node, nodes.TemplateData) or not REFERENCE.search(node.data):
        yield node
        return
    pieces = REFERENCE.split(node.data)
    for number, piece in enumerate(pieces):
        if number % 2:
            yield nodes.Const(endpoint.fill(f"${{{piece}}}"), lineno=node.lineno)
        elif piece:
            yield nodes.TemplateData(piece, lineno=node.lineno)


_TEXT_SANDBOX = sandbox(StrictUndefined)
AddMissingIds: TypeAlias = Callable[[RequestValues], RequestValues]


class OmittedField(Exception):
    """A text needs the id of a conversation that has none yet."""


class MissingConversationId(Undefined):
    """The id of a conversation that has none yet. A template can test it, but not print it."""

    def __str__(self) -> str:
        name = self._undefined_name
        raise OmittedField(f"there is no {name} before the first reply; write {{% if {name} %}} around what needs it")


def parse_request_template(
    text: str, environment: Sandbox, endpoint: EndpointContext
) -> tuple[nodes.Template, AddMissingIds]:
    """Parse a template of a request, and return a function that marks missing ids as `MissingConversationId`.

    Raises:
        EndpointError: as `parse_template`, or a name does not exist.
    """
    tree = parse_template(text, environment, endpoint)
    used = undeclared_names(tree)
    check_names(used, endpoint)
    ids = used & set(CONVERSATION_NAMES)

    def with_missing_ids(context: RequestValues) -> RequestValues:
        unnamed = {name: MissingConversationId(name=name) for name in ids if context[name] is None}
        return {**context, **unnamed} if unnamed else context

    return tree, with_missing_ids


def template_filler(text: str, endpoint: EndpointContext) -> Filler:
    """Compile a text with Jinja; as `text_filler`."""
    tree, add_missing_ids = parse_request_template(text, _TEXT_SANDBOX, endpoint)
    evaluate = compile_evaluator(tree, _TEXT_SANDBOX)

    def fill(context: RequestValues) -> Any:
        try:
            value = evaluate(add_missing_ids(context))
            if isinstance(value, MissingConversationId):
                return OMITTED
            if isinstance(value, Undefined):
                str(value)  # raises the error of the sandbox
        except OmittedField:
            return OMITTED
        return value

    return fill


_PLACEHOLDERS = "_slots"
_STRING_OR_PLACEHOLDER = r'"(?:[^"\\]|\\.)*"|{0}\d+;'


class RawJson(str):
    """JSON that a template rendered with the filter `tojson`."""

    __slots__ = ()


class Placeholders:
    """Placeholders for the printed values of a template. They contain a random mark, so that no value can forge one."""

    def __init__(self) -> None:
        self.mark = secrets.token_hex(8) + ":"
        self.values: list[Any] = []

    def put(self, value: Any) -> str:
        """Add a value and return its placeholder."""
        self.values.append(value)
        return f"{self.mark}{len(self.values) - 1};"

    def as_json(self, text: str) -> str:
        """The text with all values inserted: as text within a string, as JSON outside."""
        pattern = re.compile(_STRING_OR_PLACEHOLDER.format(self.mark), re.DOTALL)

        def insert(match: re.Match[str]) -> str:
            if match[0].startswith('"'):
                return self._slot().sub(lambda slot: json.dumps(self._plain(slot[0]))[1:-1], match[0])
            return self._value(match[0])

        return pattern.sub(insert, text)

    def _value(self, mark: str) -> str:
        value = self._of(mark)
        if isinstance(value, RawJson):
            return str(value)
        return json.dumps(self._plain(mark) if isinstance(value, str) else value)

    def _plain(self, mark: str) -> str:
        value = self._of(mark)
        text = value if isinstance(value, str) else json.dumps(value)
        # The text of a `{% set %}` block has placeholders itself.
        return self._slot().sub(lambda slot: self._plain(slot[0]), text)

    def _of(self, mark: str) -> Any:
        return self.values[int(mark.removeprefix(self.mark).removesuffix(";"))]

    def _slot(self) -> re.Pattern[str]:
        return re.compile(rf"{self.mark}\d+;")


@pass_context
def _finalize(context: JinjaContext, value: Any) -> str:
    if isinstance(value, Undefined):  # raises: a placeholder would hide that the name is unknown
        str(value)
    slots: Placeholders = context[_PLACEHOLDERS]
    return slots.put(value)


BODY_SANDBOX = sandbox(StrictUndefined, finalize=_finalize)
BODY_SANDBOX.filters = {**BODY_SANDBOX.filters, "tojson": lambda value: RawJson(json.dumps(value))}


def json_filler(text: str, endpoint: EndpointContext) -> Filler:
    """Compile a text that becomes JSON when it is rendered.

    Raises:
        EndpointError: as `parse_request_template`.
    """
    tree, add_missing_ids = parse_request_template(text, BODY_SANDBOX, endpoint)
    render = compile_renderer(tree, BODY_SANDBOX)

    def fill(context: RequestValues) -> Any:
        slots = Placeholders()
        return json.loads(slots.as_json(render({**add_missing_ids(context), _PLACEHOLDERS: slots})))

    return fill
