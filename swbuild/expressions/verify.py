"""What is wrong with the body of a statement, if anything: types, references and names.

Every operation has the type that C gives it, every reference leads to something that its statement has, and
every variable is declared before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import singledispatch

from swbuild.classes import dataclass
from swbuild.expressions.building import assigned_in
from swbuild.expressions.c import (
    AccessRef,
    Assignment,
    Call,
    Cast,
    Comma,
    Conditional,
    Element,
    InitialList,
    IteratorRef,
    Literal,
    Operation,
    ParameterRef,
    Parentheses,
    Step,
    Typed,
    Unary,
    Variable,
)
from swbuild.expressions.nodes import Expression
from swbuild.expressions.printing import c_text
from swbuild.expressions.statement_printing import statement_text
from swbuild.expressions.statements import (
    Block,
    CStatement,
    Declaration,
    Declarator,
    DoWhile,
    Evaluation,
    For,
    If,
    Jump,
    Nothing,
    While,
)
from swbuild.expressions.trees import walk
from swbuild.expressions.types import (
    INT,
    ElementType,
    common_type,
    is_integer,
    operation_type,
    promoted,
    result_type,
)

__all__ = ["Scope", "faults"]

_OF_INTEGERS = frozenset(("%", "<<", ">>", "&", "|", "^"))
_OPERATORS = _OF_INTEGERS | {"*", "/", "+", "-", "<", "<=", ">", ">=", "==", "!=", "&&", "||"}
_ASSIGNED = frozenset(("*", "/", "+", "-")) | _OF_INTEGERS


@dataclass(frozen=True, slots=True)
class Scope:
    """What a body may refer to, each with its type; ``variables`` are its own, with their dimensions."""

    accesses: Mapping[int, ElementType]
    loops: tuple[ElementType, ...]
    parameters: Mapping[str, ElementType]
    variables: Mapping[str, tuple[ElementType, int]]
    in_loop: bool = False

    def declaring(self, statement: Expression) -> Scope:
        """Return what is in scope behind ``statement``."""
        if not isinstance(statement, Declaration):
            return self
        declarators = (d for d in statement.declarators if isinstance(d, Declarator))
        own = {d.name: (statement.type, len(d.extents)) for d in declarators}
        return replace(self, variables={**self.variables, **own})

    def with_all_of(self, body: Expression) -> Scope:
        """Return the same with all that is declared anywhere in ``body``: for subscripts out of it."""
        scope = self
        for node in walk(body):
            scope = scope.declaring(node)
        return scope

    def repeated(self) -> Scope:
        """Return the same inside a loop."""
        return replace(self, in_loop=True)


def faults(tree: Expression, scope: Scope) -> list[str]:
    """Return what is wrong with a statement or expression, in words; nothing for a right one."""
    return list(_faults(tree, scope))


@singledispatch
def _faults(node: Expression, scope: Scope) -> Iterator[str]:
    """Yield what is wrong with a node and with what is below it."""
    if isinstance(node, Typed):
        yield from _values(node.children, scope)
        yield from (f"{_shown(node)}: {fault}" for fault in _own_faults(node, scope))
    elif not isinstance(node, (Jump, Nothing)):
        yield f"{type(node).__name__} in the body of a statement"


def _shown(node: Expression) -> str:
    try:
        return f"`{c_text(node)}`"
    except (KeyError, TypeError):  # of a wrong tree, that is
        return type(node).__name__


def _values(nodes: tuple[Expression, ...], scope: Scope) -> Iterator[str]:
    """Yield what is wrong with operands, which have to be expressions of C."""
    for node in nodes:
        if isinstance(node, Typed):
            yield from _faults(node, scope)
        else:
            yield f"{type(node).__name__} where a value has to be"


# -- statements ---------------------------------------------------------------------------------


@_faults.register
def _evaluation(node: Evaluation, scope: Scope) -> Iterator[str]:
    return _values(node.children, scope)


@_faults.register
def _block(node: Block, scope: Scope) -> Iterator[str]:
    for item in node.items:
        yield from _statement(item, scope)
        scope = scope.declaring(item)


def _statement(node: Expression, scope: Scope) -> Iterator[str]:
    if isinstance(node, CStatement) and not isinstance(node, Declarator):
        yield from _faults(node, scope)
    else:
        yield f"{type(node).__name__} where a statement has to be"


@_faults.register
def _if(node: If, scope: Scope) -> Iterator[str]:
    yield from _values((node.condition,), scope)
    for branch in (node.then, node.otherwise):
        yield from _statement(branch, scope)


@_faults.register
def _for(node: For, scope: Scope) -> Iterator[str]:
    yield from _statement(node.first, scope)
    inside = scope.declaring(node.first).repeated()
    yield from _values(tuple(n for n in (node.condition, node.step) if n != Nothing()), inside)
    yield from _statement(node.body, inside)


@_faults.register(While)
@_faults.register(DoWhile)
def _while(node: While | DoWhile, scope: Scope) -> Iterator[str]:
    yield from _values((node.condition,), scope)
    yield from _statement(node.body, scope.repeated())


@_faults.register
def _jump(node: Jump, scope: Scope) -> Iterator[str]:
    if node.word not in ("break", "continue") or not scope.in_loop:
        yield f"`{statement_text(node)}` outside of a loop"


@_faults.register
def _declaration(node: Declaration, scope: Scope) -> Iterator[str]:
    for declarator in node.declarators:
        if not isinstance(declarator, Declarator):
            yield f"{type(declarator).__name__} in a declaration"
            continue
        if declarator.name in scope.variables:
            yield f"`{declarator.name}` is declared twice"
        if declarator.value != Nothing():
            yield from _values((declarator.value,), scope)


# -- expressions --------------------------------------------------------------------------------


def _own_faults(node: Typed, scope: Scope) -> Iterator[str]:
    """Yield what is wrong with a node whose operands are right."""
    if isinstance(node, (AccessRef, IteratorRef, ParameterRef, Variable)):
        yield from _reference(node, scope)
    elif isinstance(node, Element):
        yield from _element(node, scope)
    elif isinstance(node, (Assignment, Step)):
        yield from _written(node)
    elif isinstance(node, Operation):
        yield from _operation(node)
    elif isinstance(node, Unary):
        yield from _unary(node)
    elif not isinstance(node, (Call, Cast, InitialList)):
        expected = _expected(node)
        if expected is not None and node.type != expected:
            yield _differs(node.type, expected)


def _reference(node: AccessRef | IteratorRef | ParameterRef | Variable, scope: Scope) -> Iterator[str]:
    known: ElementType | None
    if isinstance(node, AccessRef):
        known = scope.accesses.get(node.ref)
    elif isinstance(node, IteratorRef):
        known = dict(enumerate(scope.loops)).get(node.index)
    elif isinstance(node, ParameterRef):
        known = scope.parameters.get(node.name)
    else:
        known = scope.variables.get(node.name, (None, 0))[0]
    if known is None:
        yield "there is nothing that it refers to"
    elif known != node.type:
        yield _differs(node.type, known)


def _element(node: Element, scope: Scope) -> Iterator[str]:
    array = node.array
    count = scope.variables.get(array.name, (None, 0))[1] if isinstance(array, Variable) else None
    if count != len(node.subscripts):
        yield f"{len(node.subscripts)} subscripts where there are {count or 0} dimensions"
    if any(isinstance(s, Typed) and not is_integer(s.type) for s in node.subscripts):
        yield "a subscript that is no integer"


def _written(node: Assignment | Step) -> Iterator[str]:
    target = node.target if isinstance(node, Assignment) else node.operand
    if not isinstance(target, (AccessRef, Element, Variable)):
        yield "it writes what is no variable"
        return
    if node.type != target.type:
        yield _differs(node.type, target.type)
    if isinstance(node, Step) or not isinstance(node.value, Typed):
        return
    if node.operator[-1:] != "=" or (node.operator != "=" and node.operator[:-1] not in _ASSIGNED):
        yield f"no operator of C: {node.operator}"
        return
    computed = assigned_in(node.operator, target.type, node.value.type)
    if node.computed != computed:
        yield f"done in {node.computed.name}, in C in {computed.name}"


def _operation(node: Operation) -> Iterator[str]:
    if node.operator not in _OPERATORS:
        yield f"no operator of C: {node.operator}"
        return
    types = [operand.type for operand in (node.left, node.right) if isinstance(operand, Typed)]
    if node.operator in _OF_INTEGERS and not all(map(is_integer, types)):
        yield "an operator of integers with other operands"
    computed = operation_type(node.operator, types[0], types[-1])
    if node.computed != computed:
        yield f"done in {node.computed.name}, in C in {computed.name}"
    elif node.type != result_type(node.operator, computed):
        yield _differs(node.type, result_type(node.operator, computed))


def _unary(node: Unary) -> Iterator[str]:
    if node.operator not in ("-", "+", "~", "!", "!!"):
        yield f"no operator of C on numbers: {node.operator}"
        return
    assert isinstance(node.operand, Typed)
    expected = INT if node.operator[0] == "!" else promoted(node.operand.type)
    if node.type != expected:
        yield _differs(node.type, expected)
    if node.operator == "~" and not is_integer(node.operand.type):
        yield "an operator of integers with another operand"


def _expected(node: Typed) -> ElementType | None:
    """Return the type that follows from the operands, None where any will do."""
    if isinstance(node, Conditional):
        values = [value.type for value in (node.then, node.otherwise) if isinstance(value, Typed)]
        return common_type(values[0], values[-1])
    if isinstance(node, Comma) and isinstance(node.items[-1], Typed):
        return node.items[-1].type
    if isinstance(node, Parentheses) and isinstance(node.operand, Typed):
        return node.operand.type
    return promoted(node.type) if isinstance(node, Literal) else None


def _differs(found: ElementType, expected: ElementType) -> str:
    return f"of type {found.name}, in C of type {expected.name}"
