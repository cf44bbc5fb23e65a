"""C expressions as trees, with references for accesses, counters and parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import islpy as isl
from pycparser import c_ast

from swbuild.classes import dataclass
from swbuild.expressions.building import assignment, conditional, operation, unary
from swbuild.expressions.c import (
    AccessRef,
    Call,
    Cast,
    Comma,
    Element,
    IteratorRef,
    Literal,
    Parentheses,
    Step,
    Typed,
    Variable,
)
from swbuild.expressions.nodes import Expression
from swbuild.expressions.types import (
    DOUBLE,
    FLOAT,
    ULONG,
    ElementType,
    common_type,
    promoted,
)
from swbuild.frontend.calls import Calls
from swbuild.frontend.changes import writes
from swbuild.frontend.constants import Constant, integer_constant, literal
from swbuild.frontend.ctype import CType, OtherType, Scalar, StructType, TypeNames
from swbuild.frontend.drafts import Object, RawAccess, Record, Subscript
from swbuild.frontend.integers import Integers
from swbuild.frontend.places import Place, PlaceFinder
from swbuild.frontend.polynomials import Polynomial
from swbuild.frontend.problems import NotModelledError, Problems
from swbuild.frontend.scop import AccessKind
from swbuild.frontend.symbols import Symbol

__all__ = ["Emitter", "Names", "Where"]


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
    after_loop: Callable[[Symbol, c_ast.Node], Typed | None]
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

    def expression(self, node: c_ast.Node, where: Where) -> Typed:
        """Return ``node`` as a tree; record its accesses."""
        method = getattr(self, f"_emit_{type(node).__name__.lower()}", None)
        if method is None:
            raise self._problems.refuse(
                "SW216",
                f"{_describe(node)} inside a region has no model",
                node,
                "write it with arithmetic, array accesses and calls to pure functions",
            )
        tree = method(node, where)
        assert isinstance(tree, Typed)
        return tree

    # -- leaves ---------------------------------------------------------------------------------

    def _emit_constant(self, node: c_ast.Constant, where: Where) -> Typed:
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
            return Literal(known.type, node.value)
        if "char" in node.type or "int" in node.type:
            raise self._problems.refuse(
                "SW216", f"the value of {node.value} depends on the compiler", node, "write it as a number"
            )
        return Literal(FLOAT if node.type == "float" else DOUBLE, node.value)

    def _emit_id(self, node: c_ast.ID, where: Where) -> Typed:
        symbol = self._finder.root(node)
        if symbol is not None and symbol.constant is not None:
            return Literal(promoted(symbol.constant.type), literal(symbol.constant))
        if symbol is not None and isinstance(symbol.type, Scalar):
            level = self._names.level(symbol)
            if level is not None:
                return IteratorRef(symbol.type.element, level)
            local = self._names.local(symbol)
            if local is not None:
                return Variable(symbol.type.element, local)
            behind = self._names.after_loop(symbol, node)
            if behind is not None:
                return Parentheses(behind.type, behind)
            known = self._names.constant(symbol)
            if known is not None:
                return self._constant(known, symbol.type.element)
            formula = self._names.formula(symbol)
            if formula is not None:
                return Cast(symbol.type.element, self.expression(formula, where))
        return self._read(node, where)

    @staticmethod
    def _constant(value: int, kind: ElementType) -> Typed:
        """Return a constant that keeps its type, be it narrower than int."""
        number = Literal(promoted(kind), literal(Constant(value, kind)))
        if kind == promoted(kind) and not number.text.startswith("-"):
            return number
        return Parentheses(kind, Cast(kind, number))

    def _emit_arrayref(self, node: c_ast.ArrayRef, where: Where) -> Typed:
        return self._read(node, where)

    def _emit_structref(self, node: c_ast.StructRef, where: Where) -> Typed:
        return self._read(node, where)

    def _read(self, node: c_ast.Node, where: Where) -> Typed:
        place = self._finder.find(node)
        return self._access(place, node, where, (AccessKind.READ,))

    def _access(self, place: Place, node: c_ast.Node, where: Where, kinds: Sequence[AccessKind]) -> Typed:
        """Record accesses of these kinds to ``place``; return the reference that stands for it."""
        element = place.element.element
        local = self._names.local(place.symbol)
        if local is not None and place.record is None and not place.fields:
            return self._own_element(local, place, where)
        thing = self._names.object(place, node)
        if not place.subscripts and thing in self._own:
            # Written before in this very instance: the value is the statement's own.
            return AccessRef(element, self._own[thing])
        subscripts, trees = self._subscripts(place, where)
        ref = self._record.new_ref()
        for kind in kinds:
            if kind is AccessKind.MUST_WRITE and (where.conditional or any(s is None for s in subscripts)):
                kind = AccessKind.MAY_WRITE
            self._record.accesses.append(
                RawAccess(thing, kind, subscripts, ref, where.domain, where.conditional, node, trees)
            )
        return AccessRef(element, ref)

    def _own_element(self, name: str, place: Place, where: Where) -> Typed:
        """Return a variable that belongs to the statement's own text, or an element of an array that does."""
        array = Variable(place.element.element, name)
        subscripts = tuple(self.expression(subscript, where) for subscript in place.subscripts)
        return Element(array.type, array, subscripts) if subscripts else array

    def _subscripts(self, place: Place, where: Where) -> tuple[tuple[Subscript, ...], tuple[Typed, ...]]:
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
        return found, tuple(self.expression(s, where) for s in place.subscripts)

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

    def _emit_binaryop(self, node: c_ast.BinaryOp, where: Where) -> Typed:
        left = self.expression(node.left, where)
        second = self._second(node, where)
        if second.domain.is_empty() and not where.domain.is_empty():
            return unary("!!", left)  # the right side is never looked at
        return operation(node.op, left, self.expression(node.right, second))

    def _second(self, node: c_ast.BinaryOp, where: Where) -> Where:
        """Where the right operand is evaluated: ``&&`` and ``||`` guard it."""
        return self.under(node.left, where, node.op == "&&") if node.op in ("&&", "||") else where

    def under(self, condition: c_ast.Node, where: Where, holds: bool) -> Where:
        """Return where the part guarded by ``condition`` (or its negation) is evaluated."""
        domain, exact = self._names.possible(condition, where.domain, holds)
        return Where(domain, where.conditional or not exact)

    def _emit_unaryop(self, node: c_ast.UnaryOp, where: Where) -> Typed:
        if node.op in ("p++", "p--", "++", "--"):
            return self._step(node, where)
        if node.op == "*":
            return self._read(node, where)
        if node.op == "sizeof":
            return Literal(ULONG, f"{self._integers.size_of(node.expr)}UL")
        if node.op not in ("-", "+", "!", "~"):
            hint = "pass values, not addresses" if node.op == "&" else ""
            raise self._problems.refuse(
                "SW216", f"the operator '{node.op}' inside a region has no model", node, hint
            )
        return unary(node.op, self.expression(node.expr, where))

    def _step(self, node: c_ast.UnaryOp, where: Where) -> Typed:
        target = self._target(node.expr, where, reads=True)
        return Step(target.type, target, node.op[-2:], node.op[0] == "p")

    def _emit_assignment(self, node: c_ast.Assignment, where: Where) -> Typed:
        if node.op == "=":
            value = self.expression(node.rvalue, where)
            target = self._target(node.lvalue, where, reads=False)
        else:
            target = self._target(node.lvalue, where, reads=True)
            value = self.expression(node.rvalue, where)
        return assignment(node.op, target, value)

    def _target(self, node: c_ast.Node, where: Where, reads: bool) -> Typed:
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
                return Variable(symbol.type.element, local)
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

    def written(self, node: c_ast.Node, ref: Expression) -> None:
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
        return AccessRef(flag.place.element.element, ref)

    def is_local(self, node: c_ast.Node) -> bool:
        """Whether ``node`` names a variable of the statement's own text."""
        symbol = self._finder.root(node)
        return isinstance(node, c_ast.ID) and symbol is not None and self._names.local(symbol) is not None

    def _emit_ternaryop(self, node: c_ast.TernaryOp, where: Where) -> Typed:
        taken, other = self.under(node.cond, where, True), self.under(node.cond, where, False)
        if taken.domain.is_empty() or other.domain.is_empty():
            return self._only_arm(node, other if taken.domain.is_empty() else taken, taken.domain.is_empty())
        cond = self.expression(node.cond, where)
        first = self.expression(node.iftrue, taken)
        second = self.expression(node.iffalse, other)
        return conditional(cond, first, second)

    def _only_arm(self, node: c_ast.TernaryOp, where: Where, second: bool) -> Typed:
        """Return the one arm that is ever taken, converted to the type that both together have."""
        live, dead = (node.iffalse, node.iftrue) if second else (node.iftrue, node.iffalse)
        value = self.expression(live, where)
        kind = common_type(value.type, self._type_of(dead, where))
        return value if kind == value.type else Cast(kind, value)

    def _type_of(self, node: c_ast.Node, where: Where) -> ElementType:
        """Return the type of an expression that is not emitted."""
        accesses = list(self._record.accesses)
        try:
            return self.expression(node, where).type
        finally:
            self._record.accesses = accesses

    def _emit_cast(self, node: c_ast.Cast, where: Where) -> Typed:
        target = self._types.resolve(node.to_type)
        if not isinstance(target, Scalar):
            raise self._problems.refuse(
                "SW216",
                f"a conversion to {_kind_name(target)} inside a region has no model",
                node,
                "convert numbers only; 'assert' needs NDEBUG" if _is_void(target) else "convert numbers only",
            )
        return Cast(target.element, self.expression(node.expr, where))

    def _emit_funccall(self, node: c_ast.FuncCall, where: Where) -> Typed:
        name, result = self._calls.resolve(node)
        arguments = node.args.exprs if node.args is not None else ()
        if name.startswith("__builtin_nan") and _is_empty_string(arguments):
            return Call(result, name, (Literal(result, '""'),))
        return Call(result, name, tuple(self.expression(argument, where) for argument in arguments))

    def _emit_exprlist(self, node: c_ast.ExprList, where: Where) -> Typed:
        items = tuple(self.expression(item, where) for item in node.exprs)
        return Comma(items[-1].type, items) if len(items) > 1 else items[0]


_DESCRIPTIONS = {
    "InitList": "a list of initial values",
    "CompoundLiteral": "a compound literal",
    "NamedInitializer": "a designated initialiser",
    "Typename": "a type name",
    "Compound": "a statement expression",
}


def _is_empty_string(arguments: Sequence[c_ast.Node]) -> bool:
    """Whether the only argument is "", as that of a NaN."""
    return [getattr(argument, "value", None) for argument in arguments] == ['""']


def _is_void(kind: CType) -> bool:
    return isinstance(kind, OtherType) and kind.name == "void"


def _kind_name(kind: CType) -> str:
    if isinstance(kind, OtherType):
        return f"the type {kind.name}"
    return "a structure" if isinstance(kind, StructType) else "a pointer"


def _describe(node: c_ast.Node) -> str:
    return _DESCRIPTIONS.get(type(node).__name__, f"this construct ({type(node).__name__})")
