"""Trees of C: their text is read back as the same tree, and their types are the compiler's."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from random import Random

import pytest
from pycparser import c_ast, c_parser

from swbuild.expressions.building import assignment, conditional, operation, unary
from swbuild.expressions.c import (
    Assignment,
    Call,
    Cast,
    Comma,
    Conditional,
    Element,
    Literal,
    Operation,
    Parentheses,
    Step,
    Typed,
    Unary,
    Variable,
)
from swbuild.expressions.nodes import Expression
from swbuild.expressions.printing import c_text
from swbuild.expressions.trees import transformed, walk
from swbuild.expressions.types import (
    BOOL,
    DOUBLE,
    FLOAT,
    INT,
    LLONG,
    LONG,
    ULLONG,
    ULONG,
    UNSIGNED,
    ElementType,
    TypeKind,
    is_integer,
)

NARROW = (
    BOOL,
    ElementType("char", 1, TypeKind.SIGNED),
    ElementType("signed char", 1, TypeKind.SIGNED),
    ElementType("unsigned char", 1, TypeKind.UNSIGNED),
    ElementType("short", 2, TypeKind.SIGNED),
    ElementType("unsigned short", 2, TypeKind.UNSIGNED),
)
INTEGERS = (*NARROW, INT, UNSIGNED, LONG, ULONG, LLONG, ULLONG)
ANY = (*INTEGERS, FLOAT, DOUBLE)
ON_INTEGERS = ("%", "<<", ">>", "&", "|", "^")
ON_ALL = ("*", "/", "+", "-", "<", "<=", ">", ">=", "==", "!=", "&&", "||")

Shape = tuple[object, ...]


class Maker:
    """Makes expressions over a few variables."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def expression(self, depth: int) -> Typed:
        if depth == 0:
            return self.leaf()
        kinds = (self.operation, self.operation, self.operation, self.unary, self.other)
        return self.random.choice(kinds)(depth - 1)

    def leaf(self) -> Typed:
        leaves = (
            Variable(INT, "i"),
            Variable(ULONG, "u"),
            Literal(INT, "0x1f"),
            Literal(ULONG, "7UL"),
            Element(INT, Variable(INT, "a"), (Variable(INT, "i"), Literal(INT, "2"))),
            Literal(INT, "'c'"),
        )
        return self.random.choice(leaves)

    def operation(self, depth: int) -> Typed:
        operator = self.random.choice((*ON_INTEGERS, *ON_ALL))
        return operation(operator, self.expression(depth), self.expression(depth))

    def unary(self, depth: int) -> Typed:
        return unary(self.random.choice(("-", "+", "!", "~", "!!")), self.expression(depth))

    def other(self, depth: int) -> Typed:
        first, second, third = (self.expression(depth) for _ in range(3))
        forms = (
            conditional(first, second, third),
            Cast(LONG, first),
            Call(DOUBLE, "f", (first, second)),
            Comma(second.type, (first, second)),
            assignment(self.random.choice(("=", "+=", "<<=")), Variable(INT, "i"), first),
            Step(INT, Variable(INT, "i"), "++", self.random.random() < 0.5),
            Parentheses(first.type, first),
        )
        return self.random.choice(forms)


def shape(node: Expression) -> Shape:
    """Return a tree as plain values, without types and parentheses."""
    below = [shape(child) for child in node.children]
    if isinstance(node, Parentheses):
        return below[0]
    if isinstance(node, Unary) and node.operator == "!!":
        return "!", ("!", *below)
    if isinstance(node, (Operation, Unary, Assignment)):
        return node.operator, *below
    if isinstance(node, Step):
        return ("p" if node.behind else "") + node.operator, *below
    if isinstance(node, (Literal, Variable)):
        return (c_text(node),)
    if isinstance(node, Call):
        return "call", node.function, *below
    names = {Cast: "cast", Comma: "comma", Conditional: "?", Element: "element"}
    return (names[type(node)], *below)  # type: ignore[index]  # a node that is none of them fails here


def parsed(node: c_ast.Node) -> Shape:
    """Return what a parser has read in the same form."""
    if isinstance(node, (c_ast.BinaryOp, c_ast.UnaryOp, c_ast.Assignment)):
        return node.op, *(parsed(child) for _, child in node.children())
    if isinstance(node, c_ast.Constant):
        return (node.value,)
    if isinstance(node, c_ast.ID):
        return (node.name,)
    if isinstance(node, c_ast.FuncCall):
        return "call", node.name.name, *map(parsed, node.args.exprs)
    if isinstance(node, c_ast.ArrayRef):
        inner = node.name if isinstance(node.name, c_ast.ArrayRef) else None
        if inner is not None:
            return "element", parsed(inner.name), parsed(inner.subscript), parsed(node.subscript)
        return "element", parsed(node.name), parsed(node.subscript)
    if isinstance(node, c_ast.Cast):
        return "cast", parsed(node.expr)
    name = {"ExprList": "comma", "TernaryOp": "?"}[type(node).__name__]
    return name, *(parsed(child) for _, child in node.children())


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_the_text_of_a_tree_is_read_back_as_it(depth: int) -> None:
    trees = [Maker(seed).expression(depth) for seed in range(60)]
    lines = "".join(f"x = ({c_text(tree)});\n" for tree in trees)
    unit = c_parser.CParser().parse(f"void f(void) {{ {lines} }}")
    for tree, line in zip(trees, unit.ext[0].body.block_items, strict=True):
        assert parsed(line.rvalue) == shape(tree), c_text(tree)


def claims() -> Iterator[str]:
    """Yield what the compiler has to find true of the types of operations."""
    for left, right in product(ANY, ANY):
        integers = is_integer(left) and is_integer(right)
        a, b = Variable(left, f"v{ANY.index(left)}"), Variable(right, f"v{ANY.index(right)}")
        trees = [operation(op, a, b) for op in (*ON_ALL, *(ON_INTEGERS if integers else ()))]
        for tree in (*trees, conditional(a, a, b)):
            yield f"SAME({c_text(tree)}, {tree.type.name});"
    for number, kind in enumerate(ANY):
        operators = ("-", "+", "!", "!!", *("~" for _ in range(is_integer(kind))))
        for tree in (unary(operator, Variable(kind, f"v{number}")) for operator in operators):
            yield f"SAME({c_text(tree)}, {tree.type.name});"


def test_types_are_those_of_the_compiler(tmp_path: Path) -> None:
    source = tmp_path / "types.c"
    variables = [f"extern {kind.name} v{number};" for number, kind in enumerate(ANY)]
    same = "_Static_assert(__builtin_types_compatible_p(__typeof__(x), t), #x)"
    source.write_text("\n".join([f"#define SAME(x, t) {same}", *variables, *claims(), ""]))
    found = subprocess.run(
        ["gcc", "-std=gnu11", "-w", "-fsyntax-only", source], capture_output=True, text=True, check=False
    )
    assert not found.returncode, found.stderr[:2000]


def test_sums_may_have_hundreds_of_terms() -> None:
    term, tree = Variable(INT, "i"), operation("+", Variable(INT, "i"), Literal(INT, "1"))
    for _ in range(700):
        tree = operation("+", tree, term)
    assert c_text(tree) == "i + 1" + " + i" * 700
    doubled = transformed(tree, lambda node: Variable(INT, "j") if node == term else node)
    assert sum(node == Variable(INT, "j") for node in walk(doubled)) == 701
