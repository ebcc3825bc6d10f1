"""Jinja in a sandbox: templates are a repository's, what is put into them is anybody's and never a template."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from jinja2 import Template, TemplateError, Undefined, meta, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment, safe_range

from scoregate.endpoints.names import Context
from scoregate.endpoints.surroundings import Surroundings
from scoregate.store.references import REFERENCE

_PYTHONS = re.compile(r"__\w+__")
_GLOBALS = {"range": safe_range, "dict": dict}


class Sandbox(ImmutableSandboxedEnvironment):
    """Where a field of data is asked for, it is found before any method of the same name."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        """The field of a dict; else as in any sandbox."""
        if isinstance(obj, dict) and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)


def sandbox(undefined: type[Undefined], **options: Any) -> Sandbox:
    """An environment in which nothing can be reached but what is given to a template."""
    made = Sandbox(undefined=undefined, keep_trailing_newline=True, **options)
    made.globals = dict(_GLOBALS)
    return made


def parsed(text: str, environment: Sandbox, surroundings: Surroundings) -> nodes.Template:
    """The tree of a template; references to variables in its own text have become what they stand for.

    Raises:
        EndpointError: it cannot be read, reaches for what Python keeps to itself, or a variable is not set.
    """
    try:
        tree = environment.parse(text)
    except TemplateError as error:
        surroundings.misconfigured(f"the template {text!r:.200} cannot be read: {error}")
    for node in tree.find_all((nodes.Getattr, nodes.Const, nodes.Name)):
        if _PYTHONS.fullmatch(reached := _reached(node)):
            surroundings.misconfigured(f"the template {text!r:.200} reaches for {reached!r:.60}, which it may not")
    for output in tree.find_all(nodes.Output):
        output.nodes = [part for node in output.nodes for part in _with_values(node, surroundings)]
    return tree


def names_in(tree: nodes.Template) -> set[str]:
    """The names that a template wants to be given."""
    return meta.find_undeclared_variables(tree) - _GLOBALS.keys()


def expression_of(tree: nodes.Template) -> nodes.Expr | None:
    """The expression that a template is, where it is nothing else."""
    parts = tree.body[0].nodes if len(tree.body) == 1 and isinstance(tree.body[0], nodes.Output) else []
    return parts[0] if len(parts) == 1 and not isinstance(parts[0], nodes.TemplateData) else None


def evaluator(tree: nodes.Template, environment: Sandbox) -> Callable[[Context], Any]:
    """What fills a template: an expression alone gives its value, anything else a text."""
    if (alone := expression_of(tree)) is None:
        return printer(tree, environment)
    target = nodes.Name("result", "store", lineno=1)
    template = _template(nodes.Template([nodes.Assign(target, alone, lineno=1)], lineno=1), environment)

    def value(context: Context) -> Any:
        made = template.new_context(dict(context))
        for _ in template.root_render_func(made):
            pass
        return made.vars["result"]

    return value


def printer(tree: nodes.Template, environment: Sandbox) -> Callable[[Context], str]:
    """What fills a template, as a text whatever is in it."""
    return _template(tree, environment).render


def _template(tree: nodes.Template, environment: Sandbox) -> Template:
    tree.set_environment(environment)
    code = environment.compile(tree)
    return Template.from_code(environment, code, environment.globals)


def _reached(node: nodes.Node) -> str:
    found = getattr(node, "attr", None) or getattr(node, "value", None) or getattr(node, "name", None)
    return found if isinstance(found, str) else ""


def _with_values(node: nodes.Expr, surroundings: Surroundings) -> Iterator[nodes.Expr]:
    """The parts of a text between references, and the values of these, which are no part of the template."""
    if not isinstance(node, nodes.TemplateData) or not REFERENCE.search(node.data):
        yield node
        return
    pieces = REFERENCE.split(node.data)
    for number, piece in enumerate(pieces):
        if number % 2:
            yield nodes.Const(surroundings.filled(f"${{{piece}}}"), lineno=node.lineno)
        elif piece:
            yield nodes.TemplateData(piece, lineno=node.lineno)
