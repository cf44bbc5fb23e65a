"""C expressions as bodies: text with holes for accesses, counters and parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import islpy as isl
from pycparser import c_ast

from swbuild.expressions.types import (
    DOUBLE,
    FLOAT,
    INT,
    ULONG,
    ElementType,
    common_type,
    is_integer,
    promoted,
)
from swbuild.frontend.calls import Calls
from swbuild.frontend.constants import Constant, integer_constant, literal
from swbuild.frontend.ctype import CType, OtherType, Scalar, StructType, TypeNames
from swbuild.frontend.drafts import Object, RawAccess, Record, Subscript
from swbuild.frontend.facts import writes
from swbuild.frontend.integers import Integers
from swbuild.frontend.places import Place, PlaceFinder
from swbuild.frontend.polynomials import Polynomial
from swbuild.frontend.problems import NotModelledError, Problems
from swbuild.frontend.scop import AccessKind, AccessRef, BodyPart, IteratorRef
from swbuild.frontend.symbols import Symbol

__all__ = ["Emitter", "Names", "Piece", "Where"]

_BINARY = {
    "*": 13, "/": 13, "%": 13, "+": 12, "-": 12, "<<": 11, ">>": 11, "<": 10, "<=": 10, ">": 10, ">=": 10,
    "==": 9, "!=": 9, "&": 8, "^": 7, "|": 6, "&&": 5, "||": 4,
}  # fmt: skip
_FLOPS = {"+": "add", "-": "add", "*": "mul", "/": "div", "%": "div"}
_PRIMARY, _UNARY, _TERNARY, _ASSIGN, _COMMA = 16, 14, 3, 2, 1


@dataclass(frozen=True, slots=True)
class Piece:
    """Emitted text, the precedence of its outermost operator, and its type."""

    parts: list[BodyPart]
    level: int
    type: ElementType

    def at(self, level: int) -> list[BodyPart]:
        """Return the text, in parentheses unless it binds at least as tightly as ``level``."""
        return self.parts if self.level >= level else ["(", *self.parts, ")"]


@dataclass(frozen=True, slots=True)
class Where:
    """The instances that evaluate an expression; ``conditional``: only some of them, unknown which."""

    domain: isl.Set
    conditional: bool = False


@dataclass(frozen=True, slots=True)
class Names:
    """What the emitter asks about names: the object of a place, the loop a counter belongs to (or None),
    the current value of a counter behind its loop, the formula that a variable stands for, what a first
    subscript is (see :meth:`Reader.place`), where a condition may hold (see
    :meth:`Reader.possible`), the name of a variable that belongs to the statement's own text, and the
    value of a constant one."""

    object: Callable[[Place, c_ast.Node], Object]
    level: Callable[[Symbol], int | None]
    after_loop: Callable[[Symbol, c_ast.Node], list[BodyPart] | None]
    formula: Callable[[Symbol], c_ast.Node | None]
    place: Callable[[c_ast.Node, isl.Set], isl.PwAff | Polynomial]
    possible: Callable[[c_ast.Node, isl.Set, bool], tuple[isl.Set, bool]]
    local: Callable[[Symbol], str | None]
    constant: Callable[[Symbol], int | None]


class Emitter:
    """Emits the expressions of one statement into ``record``."""

    def __init__(
        self,
        record: Record,
        finder: PlaceFinder,
        integers: Integers,
        names: Names,
        calls: Calls,
        types: TypeNames,
        problems: Problems,
    ) -> None:
        self._record, self._finder, self._integers, self._names = record, finder, integers, names
        self._calls, self._types, self._problems = calls, types, problems
        self._own: dict[Object, int] = {}
        #: Set while a declaration's initial value is emitted: it may write what is const.
        self.initialising = False

    def expression(self, node: c_ast.Node, where: Where) -> Piece:
        """Return ``node`` as text; record its accesses."""
        method = getattr(self, f"_emit_{type(node).__name__.lower()}", None)
        if method is None:
            raise self._problems.refuse(
                "SW216",
                f"{_describe(node)} inside a region has no model",
                node,
                "write it with arithmetic, array accesses and calls to pure functions",
            )
        piece = method(node, where)
        assert isinstance(piece, Piece)
        return piece

    # -- leaves ---------------------------------------------------------------------------------

    def _emit_constant(self, node: c_ast.Constant, where: Where) -> Piece:
        if node.type == "string":
            raise self._problems.refuse(
                "SW216", "a string inside a region has no model", node, "remove it from the region"
            )
        if "long double" in node.type:
            raise self._problems.refuse(
                "SW218", "a long double constant cannot be held by kernels", node, "use double"
            )
        known = integer_constant(node)
        if known is not None:
            return Piece([node.value], _PRIMARY, known.type)
        if "char" in node.type or "int" in node.type:
            raise self._problems.refuse(
                "SW216", f"the value of {node.value} depends on the compiler", node, "write it as a number"
            )
        return Piece([node.value], _PRIMARY, FLOAT if node.type == "float" else DOUBLE)

    def _emit_id(self, node: c_ast.ID, where: Where) -> Piece:
        symbol = self._finder.root(node)
        if symbol is not None and symbol.constant is not None:
            number = literal(symbol.constant)
            return Piece([number], _UNARY if number.startswith("-") else _PRIMARY, symbol.element)
        if symbol is not None and isinstance(symbol.type, Scalar):
            level = self._names.level(symbol)
            if level is not None:
                return Piece([IteratorRef(level)], _PRIMARY, symbol.type.element)
            local = self._names.local(symbol)
            if local is not None:
                return Piece([local], _PRIMARY, symbol.type.element)
            behind = self._names.after_loop(symbol, node)
            if behind is not None:
                return Piece(["(", *behind, ")"], _PRIMARY, symbol.type.element)
            known = self._names.constant(symbol)
            if known is not None:
                return self._constant_piece(known, symbol.type.element)
            formula = self._names.formula(symbol)
            if formula is not None:
                text = self.expression(formula, where).at(_UNARY)
                return Piece([f"({symbol.type.element.name})", *text], _UNARY, symbol.type.element)
        return self._read(node, where)

    @staticmethod
    def _constant_piece(value: int, kind: ElementType) -> Piece:
        """Return a constant that keeps its type, be it narrower than int."""
        text = literal(Constant(value, kind))
        exact = kind == promoted(kind) and not text.startswith("-")
        return Piece([text if exact else f"(({kind.name}){text})"], _PRIMARY, kind)

    def _emit_arrayref(self, node: c_ast.ArrayRef, where: Where) -> Piece:
        return self._read(node, where)

    def _emit_structref(self, node: c_ast.StructRef, where: Where) -> Piece:
        return self._read(node, where)

    def _read(self, node: c_ast.Node, where: Where) -> Piece:
        place = self._finder.find(node)
        return self._access(place, node, where, (AccessKind.READ,))

    def _access(self, place: Place, node: c_ast.Node, where: Where, kinds: Sequence[AccessKind]) -> Piece:
        """Record accesses of these kinds to ``place``; return the reference that stands for it."""
        element = place.element.element
        local = self._names.local(place.symbol)
        if local is not None and place.record is None and not place.fields:
            return Piece([local, *self._plain_subscripts(place, where)], _PRIMARY, element)
        thing = self._names.object(place, node)
        if not place.subscripts and thing in self._own:
            # Written before in this very instance: the value is the statement's own.
            return Piece([AccessRef(self._own[thing])], _PRIMARY, element)
        subscripts, parts = self._subscripts(place, where)
        ref = self._record.new_ref()
        for kind in kinds:
            if kind is AccessKind.MUST_WRITE and (where.conditional or any(s is None for s in subscripts)):
                kind = AccessKind.MAY_WRITE
            self._record.accesses.append(
                RawAccess(thing, kind, subscripts, ref, where.domain, where.conditional, node, parts)
            )
        return Piece([AccessRef(ref)], _PRIMARY, element)

    def _plain_subscripts(self, place: Place, where: Where) -> list[BodyPart]:
        """Return the subscripts of an array that belongs to the statement's own text."""
        parts: list[BodyPart] = []
        for subscript in place.subscripts:
            parts += ["[", *self.expression(subscript, where).parts, "]"]
        return parts

    def _subscripts(
        self, place: Place, where: Where
    ) -> tuple[tuple[Subscript, ...], tuple[tuple[BodyPart, ...], ...]]:
        found = tuple(self._subscript(s, where, not k) for k, s in enumerate(place.subscripts))
        if all(isinstance(s, isl.PwAff) for s in found):
            return found, ()
        for subscript in place.subscripts:
            for target, _, _ in writes(subscript):
                raise self._problems.refuse(
                    "SW216",
                    "a subscript that writes a variable has no model",
                    target,
                    "use a statement of its own",
                )
        return found, tuple(tuple(self.expression(s, where).parts) for s in place.subscripts)

    def _subscript(self, node: c_ast.Node, where: Where, first: bool) -> Subscript:
        try:
            return (
                self._names.place(node, where.domain)
                if first
                else self._integers.value(node, where.domain).pa
            )
        except NotModelledError:
            return None

    # -- operators ------------------------------------------------------------------------------

    def _emit_binaryop(self, node: c_ast.BinaryOp, where: Where) -> Piece:
        level = _BINARY[node.op]
        left = self.expression(node.left, where)
        second = self._second(node, where)
        if second.domain.is_empty() and not where.domain.is_empty():
            return Piece(["!!", *left.at(_UNARY)], _UNARY, INT)  # the right side is never looked at
        right = self.expression(node.right, second)
        kind = common_type(left.type, right.type)
        if node.op in _FLOPS:
            self._count("int" if is_integer(kind) else _FLOPS[node.op])
        result = INT if level in (10, 9, 5, 4) else promoted(left.type) if level == 11 else kind
        # Comparisons of comparisons and mixed bit operators get parentheses that compilers ask for.
        inner = level if level >= 12 else 11 if level in (10, 9) else 13
        if level in (5, 4):
            inner = level + 1 if level == 5 else 6
            same = isinstance(node.left, c_ast.BinaryOp) and node.left.op == node.op
            return Piece(
                [*left.at(level if same else inner), f" {node.op} ", *right.at(inner)], level, result
            )
        return Piece([*left.at(inner), f" {node.op} ", *right.at(inner + 1)], level, result)

    def _second(self, node: c_ast.BinaryOp, where: Where) -> Where:
        """Where the right operand is evaluated: ``&&`` and ``||`` guard it."""
        return self.under(node.left, where, node.op == "&&") if node.op in ("&&", "||") else where

    def under(self, condition: c_ast.Node, where: Where, holds: bool) -> Where:
        """Return where the part guarded by ``condition`` (or its negation) is evaluated."""
        domain, exact = self._names.possible(condition, where.domain, holds)
        return Where(domain, where.conditional or not exact)

    def _emit_unaryop(self, node: c_ast.UnaryOp, where: Where) -> Piece:
        if node.op in ("p++", "p--", "++", "--"):
            return self._step(node, where)
        if node.op == "*":
            return self._read(node, where)
        if node.op == "sizeof":
            return Piece(
                [f"{self._integers.size_of(node.expr)}UL"],
                _PRIMARY,
                ULONG,
            )
        if node.op not in ("-", "+", "!", "~"):
            hint = "pass values, not addresses" if node.op == "&" else ""
            raise self._problems.refuse(
                "SW216", f"the operator '{node.op}' inside a region has no model", node, hint
            )
        inner = self.expression(node.expr, where)
        text = inner.at(_UNARY)
        if text and isinstance(text[0], str) and text[0][:1] in "+-":
            text = ["(", *text, ")"]
        return Piece([node.op, *text], _UNARY, INT if node.op == "!" else promoted(inner.type))

    def _step(self, node: c_ast.UnaryOp, where: Where) -> Piece:
        target = self._target(node.expr, where, reads=True)
        self._count("int" if is_integer(target.type) else "add")
        parts = [*target.parts, node.op[1:]] if node.op[0] == "p" else [node.op, *target.parts]
        return Piece(parts, _UNARY, target.type)

    def _emit_assignment(self, node: c_ast.Assignment, where: Where) -> Piece:
        target = None
        if node.op == "=":
            value = self.expression(node.rvalue, where)
            target = self._target(node.lvalue, where, reads=False)
        else:
            target = self._target(node.lvalue, where, reads=True)
            value = self.expression(node.rvalue, where)
            kind = common_type(target.type, value.type)
            if node.op[:-1] in _FLOPS:
                self._count("int" if is_integer(kind) else _FLOPS[node.op[:-1]])
        return Piece([*target.parts, f" {node.op} ", *value.at(_ASSIGN)], _ASSIGN, target.type)

    def _target(self, node: c_ast.Node, where: Where, reads: bool) -> Piece:
        symbol = self._finder.root(node)
        if isinstance(node, c_ast.ID) and symbol is not None:
            if self._names.level(symbol) is not None:
                raise self._problems.refuse(
                    "SW212",
                    f"the loop counter '{node.name}' is modified in the loop",
                    node,
                    "count with another variable",
                )
            local = self._names.local(symbol)
            if local is not None and isinstance(symbol.type, Scalar):
                return Piece([local], _PRIMARY, symbol.type.element)
        place = self._finder.find(node)
        kinds = (AccessKind.READ, AccessKind.MUST_WRITE) if reads else (AccessKind.MUST_WRITE,)
        if place.element.const and not self.initialising:
            raise self._problems.refuse(
                "SW216",
                f"'{place.path}' is const and cannot be written",
                node,
                "declare it without const, or write to another variable",
            )
        return self._access(place, node, where, kinds)

    def written(self, node: c_ast.Node, ref: BodyPart) -> None:
        """Note that the scalar ``node`` was written unconditionally in this branch, under ``ref``."""
        if isinstance(ref, AccessRef):
            place = self._finder.find(node)
            if not place.subscripts:
                self._own[self._names.object(place, node)] = ref.ref

    def owned(self) -> dict[Object, int]:
        """Return what :meth:`written` noted so far; the caller restores it at the end of a branch."""
        return dict(self._own)

    def restore(self, owned: dict[Object, int]) -> None:
        """Forget what was noted since ``owned`` was taken."""
        self._own = owned

    def flag(self, flag: Object, kind: AccessKind, node: c_ast.Node, domain: isl.Set) -> AccessRef:
        """Record an access to a condition's own variable and return its reference."""
        ref = self._record.new_ref()
        self._record.accesses.append(RawAccess(flag, kind, (), ref, domain, False, node))
        return AccessRef(ref)

    def is_local(self, node: c_ast.Node) -> bool:
        """Whether ``node`` names a variable of the statement's own text."""
        symbol = self._finder.root(node)
        return isinstance(node, c_ast.ID) and symbol is not None and self._names.local(symbol) is not None

    def _emit_ternaryop(self, node: c_ast.TernaryOp, where: Where) -> Piece:
        taken, other = self.under(node.cond, where, True), self.under(node.cond, where, False)
        if taken.domain.is_empty() or other.domain.is_empty():
            return self._only_arm(node, other if taken.domain.is_empty() else taken, taken.domain.is_empty())
        cond = self.expression(node.cond, where)
        first = self.expression(node.iftrue, taken)
        second = self.expression(node.iffalse, other)
        parts = [*cond.at(_TERNARY + 1), " ? ", *first.at(_TERNARY), " : ", *second.at(_TERNARY)]
        return Piece(parts, _TERNARY, common_type(first.type, second.type))

    def _only_arm(self, node: c_ast.TernaryOp, where: Where, second: bool) -> Piece:
        """Return the one arm that is ever taken, converted to the type that both together have."""
        live, dead = (node.iffalse, node.iftrue) if second else (node.iftrue, node.iffalse)
        piece = self.expression(live, where)
        kind = common_type(piece.type, self._type_of(dead, where))
        if kind == piece.type:
            return piece
        return Piece([f"({kind.name})", *piece.at(_UNARY)], _UNARY, kind)

    def _type_of(self, node: c_ast.Node, where: Where) -> ElementType:
        """Return the type of an expression that is not emitted."""
        accesses, flops, calls = (
            list(self._record.accesses),
            dict(self._record.flops),
            dict(self._record.calls),
        )
        try:
            return self.expression(node, where).type
        finally:
            self._record.accesses, self._record.flops, self._record.calls = accesses, flops, calls

    def _emit_cast(self, node: c_ast.Cast, where: Where) -> Piece:
        target = self._types.resolve(node.to_type)
        if not isinstance(target, Scalar):
            raise self._problems.refuse(
                "SW216",
                f"a conversion to {_kind_name(target)} inside a region has no model",
                node,
                "convert numbers only; 'assert' needs NDEBUG" if _is_void(target) else "convert numbers only",
            )
        inner = self.expression(node.expr, where)
        return Piece([f"({target.element.name})", *inner.at(_UNARY)], _UNARY, target.element)

    def _emit_funccall(self, node: c_ast.FuncCall, where: Where) -> Piece:
        name, result = self._calls.resolve(node)
        self._record.calls[name] = None
        self._count(f"call:{name}")
        parts: list[BodyPart] = [f"{name}("]
        for index, argument in enumerate(node.args.exprs if node.args is not None else ()):
            parts += [", "] if index else []
            parts += self.expression(argument, where).at(_ASSIGN)
        return Piece([*parts, ")"], _PRIMARY, result)

    def _emit_exprlist(self, node: c_ast.ExprList, where: Where) -> Piece:
        pieces = [self.expression(item, where) for item in node.exprs]
        parts: list[BodyPart] = []
        for index, piece in enumerate(pieces):
            parts += [", "] if index else []
            parts += piece.at(_ASSIGN)
        return Piece(parts, _COMMA if len(pieces) > 1 else pieces[0].level, pieces[-1].type)

    def _count(self, what: str) -> None:
        self._record.flops[what] = self._record.flops.get(what, 0) + 1


_DESCRIPTIONS = {
    "InitList": "a list of initial values",
    "CompoundLiteral": "a compound literal",
    "NamedInitializer": "a designated initialiser",
    "Typename": "a type name",
    "Compound": "a statement expression",
}


def _is_void(kind: CType) -> bool:
    return isinstance(kind, OtherType) and kind.name == "void"


def _kind_name(kind: CType) -> str:
    if isinstance(kind, OtherType):
        return f"the type {kind.name}"
    return "a structure" if isinstance(kind, StructType) else "a pointer"


def _describe(node: c_ast.Node) -> str:
    return _DESCRIPTIONS.get(type(node).__name__, f"this construct ({type(node).__name__})")
