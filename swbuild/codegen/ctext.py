"""Printing the kernel IR as C: the part that host and device share."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import islpy as isl

from swbuild.frontend.scop import Array, Scop
from swbuild.kernelir.expressions import to_c
from swbuild.kernelir.nodes import Block, Compute, Counter, Guard, Loop, Node

__all__ = [
    "Lines",
    "array_index",
    "extent_texts",
    "indent",
    "index_macro",
    "parenthesised",
    "print_node",
    "quoted",
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
        return [line for child in node.children for line in print_node(child, special)]
    if isinstance(node, Loop):
        return _loop(node, special)
    if isinstance(node, Counter):
        body = indent(print_node(node.body, special))
        return ["{", f"  long {node.iterator} = {node.first};", *body, "}"]
    if isinstance(node, Guard):
        lines = [f"if ({node.condition}) {{", *indent(print_node(node.then, special))]
        if node.otherwise is not None:
            lines += ["} else {", *indent(print_node(node.otherwise, special))]
        return [*lines, "}"]
    if isinstance(node, Compute):
        return node.text.split("\n")
    return special(node)


def _loop(node: Loop, special: Special) -> Lines:
    body = indent(print_node(node.body, special))
    if not node.condition:
        return ["{", f"  const long {node.iterator} = {node.first};", *body, "}"]
    step = f"{node.iterator}++" if node.step == "1" else f"{node.iterator} += {node.step}"
    first = f"long {node.iterator} = {node.first}" if node.first else ""
    head = f"for ({first}; {node.condition}; {step}) {{"
    return [head, *body, "}"]


def quoted(name: str) -> str:
    """Return ``name`` for use between the quotes of a C string."""
    return name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def parenthesised(text: str) -> str:
    """Return ``text`` fit to stand in any expression."""
    return text if text.replace("_", "a").isalnum() else f"({text})"


def extent_texts(scop: Scop, array: Array) -> tuple[str, ...]:
    """Return the C text of the array's extents over the parameters (the outermost one may be empty).

    Products of them and of ``int`` subscripts do not overflow.
    """
    build = isl.AstBuild.from_context(scop.context.intersect(scop.assumptions))
    texts = ["" if e is None else parenthesised(to_c(build.expr_from_pw_aff(e))) for e in array.extents]
    short = all(map(str.isdigit, texts)) and math.prod(map(int, texts)) < 2**31
    return tuple(f"{text}L" if text.isdigit() and not short else text for text in texts)


def array_index(extents: tuple[str, ...], index: tuple[str, ...]) -> str:
    """Return the offset, in elements, of the element ``index`` of an array with these ``extents``."""
    text = index[0]
    for extent, subscript in zip(extents[1:], index[1:], strict=True):
        text = f"{_factor(text)} * {extent}" + ("" if subscript == "0" else f" + {subscript}")
    return text


def _factor(text: str) -> str:
    """Return ``text`` in parentheses unless it is one operand already."""
    depth, closed_early = 0, False
    for position, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        closed_early |= depth == 0 and position < len(text) - 1
    return f"({text})" if closed_early and not text.replace("_", "a").isalnum() else text


def index_macro(name: str, base: str, extents: tuple[str, ...], shifts: tuple[str, ...]) -> tuple[str, str]:
    """Return a macro (name with parameters, text) that gives the element of ``base`` at its arguments.

    ``shifts`` are appended to each argument (`` - A_lo0``); the parameters clash with nothing in the text.
    """
    used = set(re.findall(r"\w+", " ".join((base, *extents, *shifts))))
    names = []
    for k in range(len(extents)):
        letter = "ijklmn"[k] if k < 6 else f"i{k}"
        while letter in used or letter in names:
            letter += "_"
        names.append(letter)
    index = tuple(f"(({n}){shift})" if shift else f"({n})" for n, shift in zip(names, shifts, strict=True))
    return f"{name}({', '.join(names)})", f"{base}[{array_index(extents, index)}]"
