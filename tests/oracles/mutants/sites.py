"""Places of a module where it can be changed, and to what."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
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
OPERATIONS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
FUNCTIONS = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "argmin": "argmax",
    "argmax": "argmin",
    "any": "all",
    "all": "any",
    "sorted": "list",
}
SIDES = {"left": "right", "right": "left"}  # of a search in what is sorted
SAID_BY = {"log", "logger", "logging", "warnings"}  # objects whose methods only say something
TYPES = {"types", "TypeVar", "NewType", "Literal", "Callable"}  # what makes types by a call


@dataclass(frozen=True)
class Site:
    """A place of a source and what may stand there instead.

    ``start`` and ``end`` count bytes of the source in UTF-8; ``afters`` has one text at least.
    """

    line: int
    kind: str
    before: str
    afters: tuple[str, ...]
    start: int
    end: int

    def put(self, text: str, after: str) -> str:
        """The source with ``after`` in this place."""
        source = text.encode()
        return (source[: self.start] + after.encode() + source[self.end :]).decode()


def find_sites(text: str) -> list[Site]:
    """Sites of a module, in the order of its lines."""
    return _Finder(text).find()


def is_program(text: str) -> bool:
    """Whether Python can compile a text."""
    try:
        compile(text, "mutant", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


class _Finder:
    def __init__(self, text: str) -> None:
        self._tree = ast.parse(text)
        self._starts = [0]  # of lines, in bytes
        for line in text.encode().splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def find(self) -> list[Site]:
        return sorted(self._of(self._tree, compiled=False), key=lambda one: (one.start, one.end))

    def _site(self, node: ast.stmt | ast.expr, kind: str, *afters: ast.AST | str) -> Site:
        texts = tuple(
            after if isinstance(after, str) else f"({ast.unparse(after)})" for after in afters
        )
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return Site(
            node.lineno,
            kind,
            ast.unparse(node),
            texts,
            self._starts[node.lineno - 1] + node.col_offset,
            self._starts[node.end_lineno - 1] + node.end_col_offset,
        )

    def _of(self, node: ast.AST, compiled: bool) -> Iterator[Site]:
        """Sites of a node and below it; ``compiled``: inside of what numba compiles."""
        if isinstance(node, ast.FunctionDef) and any(
            "njit" in ast.unparse(one) for one in node.decorator_list
        ):
            compiled = True
        if _only_says(node):
            return
        if isinstance(node, ast.expr):
            yield from self._of_expression(node)
        elif isinstance(node, ast.stmt):
            yield from self._of_statement(node, compiled)
        for child in _changing(node):
            yield from self._of(child, compiled)

    def _of_expression(self, node: ast.expr) -> Iterator[Site]:
        match node:
            case ast.Compare():
                for at, op in enumerate(node.ops):
                    others = COMPARISONS[type(op)]
                    yield self._site(
                        node, "comparison", *(_with(node, "ops", at, other()) for other in others)
                    )
            case ast.BinOp() if type(node.op) in OPERATIONS:
                yield self._site(node, "operation", _having(node, op=OPERATIONS[type(node.op)]()))
            case ast.BoolOp():
                other = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
                yield self._site(node, "and, or", _having(node, op=other))
            case ast.UnaryOp(op=ast.Not()):
                yield self._site(node, "not", node.operand)
            case ast.UnaryOp(op=ast.USub(), operand=operand) if not isinstance(
                operand, ast.Constant
            ):
                yield self._site(node, "sign", operand)
            case ast.Constant(value=bool(value)):
                yield self._site(node, "constant", str(not value))
            case ast.Constant(value=int(value)):
                yield self._site(node, "constant", f"({value + 1})", f"({value - 1})")
            case ast.Constant(value=float(value)):
                yield self._site(node, "constant", f"({value + 1})", f"({value - 1})")
            case ast.Constant(value=str(value)) if value in SIDES:
                yield self._site(node, "side", repr(SIDES[value]))
            case ast.Call(func=ast.Name(id=name)) if name in FUNCTIONS:
                other = ast.Name(FUNCTIONS[name])
                yield self._site(node, "function", _having(node, func=other))
            case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in FUNCTIONS:
                func = ast.Attribute(value, FUNCTIONS[name])
                yield self._site(node, "function", _having(node, func=func))
            case ast.IfExp(test=test) if _is_plain(test):
                yield self._negated(test)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                for test in (one for each in node.generators for one in each.ifs):
                    if _is_plain(test):
                        yield self._negated(test)

    def _of_statement(self, node: ast.stmt, compiled: bool) -> Iterator[Site]:
        match node:
            case ast.If(test=test) | ast.While(test=test) if _is_plain(test):
                yield self._negated(test)
            case ast.Expr(value=ast.Call() | ast.Await()) | ast.Raise():
                yield self._site(node, "statement", "pass")
            case ast.AugAssign(op=op):
                afters: list[ast.AST | str] = ["pass"]
                if type(op) in OPERATIONS:
                    afters.append(ast.unparse(_having(node, op=OPERATIONS[type(op)]())))
                yield self._site(node, "statement", *afters)
            case ast.Assign(targets=[ast.Subscript() | ast.Attribute()]):
                yield self._site(node, "statement", "pass")
            case ast.Break():
                yield self._site(node, "loop", "continue", "pass")
            case ast.Continue():
                yield self._site(node, "loop", "break", "pass")
            case ast.Return(value=None):
                yield self._site(node, "return", "pass")
            case ast.Return(value=ast.Tuple(elts=[first, second, *rest])):
                other = ast.Return(ast.Tuple([second, first, *rest]))
                yield self._site(node, "return", ast.unparse(other))
            case ast.Return(value=value) if not compiled and not isinstance(value, ast.Constant):
                yield self._site(node, "return", "return None")

    def _negated(self, test: ast.expr) -> Site:
        return self._site(test, "condition", ast.UnaryOp(ast.Not(), test))


def _changing(node: ast.AST) -> Iterator[ast.AST]:
    """What is below a node, without annotations, decorators, bases and what is raised."""
    left_out = {"annotation", "returns", "decorator_list", "bases", "exc", "cause", "msg"}
    for name, value in ast.iter_fields(node):
        if name not in left_out:
            yield from (
                one
                for one in (value if isinstance(value, list) else [value])
                if isinstance(one, ast.AST)
            )


def _only_says(node: ast.AST) -> bool:
    """Whether all that is in a node is text, types or imports."""
    match node:
        case ast.JoinedStr() | ast.Import() | ast.ImportFrom():
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case ast.Expr(value=ast.Call(func=func)) | ast.Call(func=func):
            root = func
            while isinstance(root, ast.Attribute | ast.Call | ast.Subscript):
                root = root.func if isinstance(root, ast.Call) else root.value
            return isinstance(root, ast.Name) and root.id in SAID_BY | TYPES
    return False


def _is_plain(test: ast.expr) -> bool:
    """Whether no other change of this condition negates it."""
    return isinstance(test, ast.Name | ast.Attribute | ast.Call | ast.Subscript)


def _having(node: ast.AST, **fields: ast.AST) -> ast.AST:
    other = copy.copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


def _with(node: ast.AST, field: str, at: int, value: ast.AST) -> ast.AST:
    """A node with another value at one place of a list."""
    values = list(getattr(node, field))
    values[at] = value
    other = copy.copy(node)
    setattr(other, field, values)
    return other
