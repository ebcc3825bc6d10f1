"""Small changes of a module's source, each of which a test should notice."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
# Larger numbers are seeds and bounds of work, in which one more or less changes no result.
_BUDGET = 1000
# Fields of types and decorators.
_TYPES = ("annotation", "returns", "decorator_list", "bases", "type_params", "type_comment")
_COLLECTIONS = (ast.Tuple, ast.List, ast.Set, ast.Dict)
_BOUNDARIES = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.BitXor: ast.BitOr,
}
# Other functions with the same arguments.
_CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}
# A field of a node, and the index in it if it is a list.
_Field = tuple[ast.AST, str, int | None]


@dataclass(frozen=True)
class Mutation:
    """One change of a module.

    Attributes:
        number: its place among all changes of the module.
        line: the line of the changed code.
        lines: the first and the last line of its statement; of a compound statement, of the head.
        function: the qualified name of the function or class around it; empty on the level of the module.
        on_import: whether the code is executed when the module is imported.
        change: the code before and after, as `a < b → a <= b`.
    """

    number: int
    line: int
    lines: tuple[int, int]
    function: str
    on_import: bool
    change: str


def find_mutations(source: str) -> list[Mutation]:
    """All changes of a module, in the order of its code."""
    return [mutation for mutation, _, _ in _walk_mutations(ast.parse(source))]


def mutate(source: str, number: int) -> ast.Module:
    """The syntax tree of a module with one of its changes."""
    tree = ast.parse(source)
    field, changed = next(
        (field, changed) for mutation, field, changed in _walk_mutations(tree) if mutation.number == number
    )
    _replace_node(field, changed)
    return ast.fix_missing_locations(tree)


def _walk_mutations(tree: ast.Module) -> Iterator[tuple[Mutation, _Field, ast.AST]]:
    """Each change, with the field of the changed node and what is there instead."""
    number = 0
    for field, node, place in _walk_nodes(tree, Mutation(0, 0, (0, 0), "", on_import=True, change="")):
        parent, name, _ = field
        # These are replaced by true and false, or left out, which is nearly the same as their opposite.
        is_condition = name == "test" or isinstance(parent, ast.BoolOp)
        is_table = place.on_import and isinstance(parent, ast.Assign | ast.AnnAssign)
        for changed in _change_node(node, is_condition=is_condition, is_table=is_table):
            change = _describe(node, changed)
            line = getattr(node, "lineno", place.lines[0])
            yield replace(place, number=number, line=line, change=change), field, ast.copy_location(changed, node)
            number += 1


def _replace_node(field: _Field, changed: ast.AST) -> None:
    parent, name, index = field
    if index is None:
        setattr(parent, name, changed)
    else:
        getattr(parent, name)[index] = changed


def _walk_nodes(parent: ast.AST, outer: Mutation) -> Iterator[tuple[_Field, ast.AST, Mutation]]:
    """All nodes below one, the outer first, each with its field and its place."""
    for name, value in ast.iter_fields(parent):
        if name in _TYPES or (name == "slice" and outer.on_import):
            continue
        for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(node, ast.AST) or _is_left_out(node):
                continue
            place = _enter(node, _enter_body(parent, outer) if name == "body" else outer)
            yield (parent, name, index), node, place
            yield from _walk_nodes(node, place)


def _enter(node: ast.AST, outer: Mutation) -> Mutation:
    """The place of a node: statements have lines, definitions have a name."""
    if not isinstance(node, ast.stmt):
        return outer
    body = getattr(node, "body", None)
    last = max(node.lineno, body[0].lineno - 1) if body else node.end_lineno or node.lineno
    name = outer.function
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        name = f"{name}.{node.name}" if name else node.name
    return replace(outer, lines=(node.lineno, last), function=name)


def _enter_body(parent: ast.AST, place: Mutation) -> Mutation:
    """The place of what is in the body: that of a function is executed after the import, its defaults are not."""
    is_function = isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    return replace(place, on_import=False) if is_function else place


def _is_left_out(node: ast.AST) -> bool:
    """Imports, exported names, assertions, and what only the type checker reads. `zip(strict=True)` is an assertion."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Assert() | ast.JoinedStr():
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.keyword(arg="strict"):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")]) | ast.AnnAssign(annotation=ast.Name(id="TypeAlias")):
            return True
    return False


def _change_node(node: ast.AST, *, is_condition: bool, is_table: bool) -> Iterator[ast.AST]:
    match node:
        case ast.Compare():
            yield from _change_comparison(node, is_condition=is_condition)
        case ast.UnaryOp(op=ast.Not()):
            yield from () if is_condition else (node.operand,)
        case ast.Tuple() | ast.List() | ast.Set() | ast.Dict():
            yield from _change_collection(node) if is_table else ()
        case ast.expr():
            yield from _change_expression(node)
        case ast.stmt():
            yield from _change_statement(node)
        case ast.comprehension(ifs=[_, *_]):
            for index in range(len(node.ifs)):
                yield _with(node, ifs=_without(node.ifs, index))
        case ast.match_case(guard=ast.expr()):
            yield _with(node, guard=None)


def _change_comparison(node: ast.Compare, *, is_condition: bool) -> Iterator[ast.AST]:
    for index, operator in enumerate(node.ops):
        for other in _COMPARISONS[type(operator)][: 1 if is_condition else 2]:
            if not is_condition or issubclass(other, _BOUNDARIES):
                yield _with(node, ops=[*node.ops[:index], other(), *node.ops[index + 1 :]])


def _change_collection(node: ast.Tuple | ast.List | ast.Set | ast.Dict) -> Iterator[ast.AST]:
    """A table of the module without one of its entries."""
    if isinstance(node, ast.Dict):
        for index in range(len(node.keys) if len(node.keys) > 1 else 0):
            yield _with(node, keys=_without(node.keys, index), values=_without(node.values, index))
    else:
        for index in range(len(node.elts) if len(node.elts) > 1 else 0):
            yield _with(node, elts=_without(node.elts, index))


def _change_statement(node: ast.stmt) -> Iterator[ast.AST]:
    match node:
        case ast.Expr(value=ast.Yield() | ast.YieldFrom()):
            yield ast.If(ast.Constant(False), [node], [])  # so that it remains a generator
        case ast.Expr(value=ast.Call() | ast.Await()) | ast.Raise() | ast.Continue() | ast.Break():
            yield ast.Pass()
        case ast.AugAssign():
            yield ast.Pass()
            if (operator := _ARITHMETIC.get(type(node.op))) is not None:
                yield _with(node, op=operator())
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield ast.Return(ast.Constant(None))
        case ast.If():
            yield from (_with(node, test=ast.Constant(value)) for value in (True, False))
        case ast.While():
            yield _with(node, test=ast.Constant(False))


def _change_expression(node: ast.expr) -> Iterator[ast.AST]:
    match node:
        case ast.BoolOp():
            yield _with(node, op=ast.And() if isinstance(node.op, ast.Or) else ast.Or())
            for index in range(len(node.values)):
                left = _without(node.values, index)
                yield _with(node, values=left) if len(left) > 1 else left[0]
        case ast.UnaryOp(op=ast.USub()):
            yield node.operand
        case ast.BinOp() if not _is_text(node.left) and not _is_text(node.right):
            if (arithmetic := _ARITHMETIC.get(type(node.op))) is not None:
                yield _with(node, op=arithmetic())
        case ast.Constant(value=bool() as flag):
            yield ast.Constant(not flag)
        case ast.Constant(value=int() | float() as number) if abs(number) < _BUDGET:
            yield from (ast.Constant(number + 1), ast.Constant(number - 1))
        case ast.IfExp():
            yield from (_with(node, test=ast.Constant(value)) for value in (True, False))
        case ast.Call(func=ast.Name(id=name)) if name in _CALLS:
            yield _with(node, func=ast.Name(_CALLS[name], ast.Load()))


def _describe(node: ast.AST, changed: ast.AST) -> str:
    if isinstance(changed, ast.Pass):
        return f"{_show(node)} → dropped"
    if isinstance(node, _COLLECTIONS) and isinstance(changed, _COLLECTIONS):
        entries, left = ((each.values if isinstance(each, ast.Dict) else each.elts) for each in (node, changed))
        dropped = next(index for index, each in enumerate(entries) if each not in left)
        # `**others` in a dictionary has no key.
        key = node.keys[dropped] if isinstance(node, ast.Dict) else None
        return f"entry {_show(key or entries[dropped])} → dropped"
    return f"{_show(node)} → {_show(changed)}"


def _with(node: ast.AST, **fields: Any) -> ast.AST:
    """A shallow copy of a node with other fields."""
    return type(node)(**{**dict(ast.iter_fields(node)), **fields})


def _without(nodes: list[Any], index: int) -> list[Any]:
    return [*nodes[:index], *nodes[index + 1 :]]


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))


def _show(node: ast.AST) -> str:
    """The code of a node on one line; of a compound statement, its head."""
    head = _with(node, body=[], orelse=[]) if isinstance(node, ast.If | ast.While) else node
    if isinstance(node, ast.match_case):
        head = _with(node, body=[])
    return " ".join(ast.unparse(head).split())
