"""Printing the kernel IR as C: the part that host and device share."""

from __future__ import annotations

import math
from collections.abc import Callable

import islpy as isl

from swbuild.expressions.nodes import (
    Binary,
    BinaryOperator,
    Constant,
    Expression,
    Name,
    Parenthesised,
    Select,
)
from swbuild.expressions.printing import c_text, in_parentheses
from swbuild.expressions.statement_printing import statement_text
from swbuild.expressions.trees import constant_value, names_in
from swbuild.frontend.scop import Array, Scop
from swbuild.kernelir.expressions import value_in
from swbuild.kernelir.nodes import Block, Compute, Counter, Deal, Guard, Loop, Node

__all__ = [
    "Lines",
    "array_index",
    "extent_texts",
    "indent",
    "index_macro",
    "extents_of",
    "listed",
    "names_in_extents",
    "print_node",
    "quoted",
    "texts_of",
]

Lines = list[str]

#: prints a node that only one side has
Special = Callable[[Node], Lines]


def indent(lines: Lines) -> Lines:
    """Return ``lines`` one step further in."""
    return [f"  {line}" if line else line for line in lines]


def print_node(node: Node, special: Special) -> Lines:
    """Return the C text of ``node``; what is not a loop, guard, block or statement goes to ``special``."""
    if isinstance(node, Block):
        return [line for child in node.children for line in _in_block(child, special)]
    if isinstance(node, Loop):
        return _loop(node, special)
    if isinstance(node, Counter):
        return ["{", *_braced(node, special), "}"]
    if isinstance(node, Deal):
        return _deal(node, special)
    if isinstance(node, Guard):
        lines = [f"if ({c_text(node.condition)}) {{", *_braced(node.then, special)]
        if node.otherwise is not None:
            lines += ["} else {", *indent(print_node(node.otherwise, special))]
        return [*lines, "}"]
    if isinstance(node, Compute):
        return statement_text(node.body).split("\n")
    return special(node)


def _in_block(node: Node, special: Special) -> Lines:
    """Return ``node``, which comes before or after others: a block with variables of its own has braces."""
    lines = print_node(node, special)
    return ["{", *indent(lines), "}"] if isinstance(node, Block) and node.registers else lines


def _braced(node: Node, special: Special) -> Lines:
    """Return ``node`` for a place between braces."""
    if isinstance(node, Counter):
        return [f"  long {node.iterator} = {c_text(node.first)};", *indent(print_node(node.body, special))]
    return indent(print_node(node, special))


def _loop(node: Loop, special: Special) -> Lines:
    body = _braced(node.body, special)
    first = "" if node.first is None else f"long {node.iterator} = {c_text(node.first)}"
    if node.condition is None:
        return ["{", f"  const {first};", *body, "}"]
    step = f"{node.iterator}++" if node.step == 1 else f"{node.iterator} += {node.step}"
    head = f"for ({first}; {c_text(node.condition)}; {step}) {{"
    return [head, *body, "}"]


def _deal(node: Deal, special: Special) -> Lines:
    first = Binary(BinaryOperator.ADD, node.first, Name(node.turn))
    left = Binary(BinaryOperator.SUB, Name(node.iterator), node.end)
    return [
        f"long {node.iterator} = {node.turn if node.first == Constant(0) else c_text(first)};",
        f"for (; {node.iterator} <= {c_text(node.last)}; {node.iterator} += {node.step}) {{",
        *indent(print_node(node.body, special)),
        "}",
        f"{node.turn} = {c_text(left)};",
    ]


def quoted(name: str) -> str:
    """Return ``name`` for use between the quotes of a C string."""
    return name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def listed(expressions: tuple[Expression, ...]) -> str:
    """Return ``expressions`` as the arguments of a call."""
    return ", ".join(map(c_text, expressions))


def extents_of(scop: Scop, array: Array) -> tuple[Expression | None, ...]:
    """Return the array's extents over the parameters; the outermost one may not be known."""
    build = isl.AstBuild.from_context(scop.context.intersect(scop.assumptions))
    return tuple(None if e is None else value_in(build, e) for e in array.extents)


def extent_texts(scop: Scop, array: Array) -> tuple[str, ...]:
    """Return the C text of the array's extents over the parameters (the outermost one may be empty).

    Products of them and of ``int`` subscripts do not overflow.
    """
    return texts_of(extents_of(scop, array))


def texts_of(extents: tuple[Expression | None, ...]) -> tuple[str, ...]:
    """Return the C text of an array's extents, as :func:`extent_texts` does."""
    values = [None if e is None else constant_value(e) for e in extents]
    short = None not in values and math.prod(v for v in values if v is not None) < 2**31
    texts = ["" if e is None else in_parentheses(e) for e in extents]
    pairs = zip(texts, values, strict=True)
    return tuple(text if value is None or short else f"{text}L" for text, value in pairs)


def names_in_extents(scop: Scop, array: Array) -> frozenset[str]:
    """Return the parameters that the extents of ``array`` are made of."""
    return frozenset[str]().union(*(names_in(e) for e in extents_of(scop, array) if e is not None))


def array_index(extents: tuple[str, ...], index: tuple[Expression, ...]) -> str:
    """Return the offset, in elements, of the element ``index`` of an array with these ``extents``."""
    text, whole = c_text(index[0]), _is_operand(index[0])
    for extent, subscript in zip(extents[1:], index[1:], strict=True):
        factor = text if whole else f"({text})"
        text, whole = f"{factor} * {extent}", False
        text += "" if subscript == Constant(0) else f" + {c_text(subscript)}"
    return text


def _is_operand(expression: Expression) -> bool:
    """Return whether ``expression`` is printed as a name, as a number or in parentheses."""
    if isinstance(expression, Constant):
        return expression.value >= 0
    return isinstance(expression, (Name, Parenthesised, Select))


def index_macro(
    name: str,
    base: str,
    extents: tuple[str, ...],
    shifts: tuple[Expression, ...],
    named: frozenset[str] = frozenset(),
) -> tuple[str, str]:
    """Return a macro (name with parameters, text) that gives the element of ``base`` at its arguments.

    ``shifts`` are taken off each argument, if not zero; ``named`` are the user's names in ``extents``: the
    macro's parameters clash with none of the names in its text.
    """
    used = {base, *named}.union(*map(names_in, shifts))
    names = []
    for k in range(len(extents)):
        letter = "ijklmn"[k] if k < 6 else f"i{k}"
        while letter in used or letter in names:
            letter += "_"
        names.append(letter)
    index = tuple(_shifted(name, shift) for name, shift in zip(names, shifts, strict=True))
    return f"{name}({', '.join(names)})", f"{base}[{array_index(extents, index)}]"


def _shifted(name: str, shift: Expression) -> Expression:
    """Return the argument ``name`` of a macro less ``shift``."""
    argument = Parenthesised(Name(name))
    return argument if shift == Constant(0) else Parenthesised(Binary(BinaryOperator.SUB, argument, shift))
