"""The verifier of bodies finds what is wrong in them, and nothing in what is right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from swbuild.expressions.building import assignment, conditional, integer, operation, unary
from swbuild.expressions.c import (
    AccessRef,
    Cast,
    Comma,
    Element,
    IteratorRef,
    Literal,
    ParameterRef,
    Parentheses,
    Step,
    Unary,
    Variable,
)
from swbuild.expressions.nodes import Constant, Expression, Name
from swbuild.expressions.statements import (
    Block,
    Declaration,
    Declarator,
    Evaluation,
    For,
    If,
    Jump,
    Nothing,
    While,
)
from swbuild.expressions.types import DOUBLE, FLOAT, INT, LONG, ULONG
from swbuild.expressions.verify import Scope, faults
from swbuild.frontend import CppOptions, read_source
from swbuild.frontend.verifying import statement_faults

SCOPE = Scope({0: DOUBLE, 1: FLOAT, 2: INT}, (INT, LONG), {"n": INT}, {})
X, Y, K = AccessRef(DOUBLE, 0), AccessRef(FLOAT, 1), AccessRef(INT, 2)
AT, N, ONE = IteratorRef(INT, 0), ParameterRef(INT, "n"), integer(1)
SUM = operation("+", X, Y)
T = Variable(DOUBLE, "t")
DECLARED = Declaration(DOUBLE, (Declarator("t", (), SUM),))
LIST = Declaration(INT, (Declarator("list", (4,), Nothing()),))
COUNTED = For(
    Declaration(INT, (Declarator("k", (), ONE),)),
    operation("<", Variable(INT, "k"), N),
    Step(INT, Variable(INT, "k"), "++", True),
    Block((If(operation(">", X, Y), Block((Jump("break"),))),)),
)


def run(value: Expression) -> Evaluation:
    return Evaluation(value)


RIGHT = {
    "sum": run(assignment("+=", X, SUM)),
    "block": Block((DECLARED, run(assignment("=", X, T)))),
    "element": Block((LIST, run(assignment("=", Element(INT, Variable(INT, "list"), (AT,)), K)))),
    "loop": COUNTED,
    "choice": run(assignment("=", Y, conditional(operation("&&", K, unary("!", X)), Y, Cast(FLOAT, X)))),
}
#: what is wrong, and a word of what is said of it
WRONG: dict[str, tuple[Expression, str]] = {
    "type of a sum": (run(replace(SUM, type=FLOAT)), "of type float, in C of type double"),
    "type it is done in": (run(replace(SUM, computed=FLOAT)), "done in float, in C in double"),
    "type of a comparison": (run(replace(operation("<", X, Y), type=DOUBLE)), "in C of type int"),
    "compound assignment": (
        run(replace(assignment("+=", K, X), computed=INT)),
        "done in int, in C in double",
    ),
    "plain assignment": (run(replace(assignment("=", K, X), type=DOUBLE)), "in C of type int"),
    "shift": (run(replace(operation("<<", K, Literal(ULONG, "1UL")), computed=ULONG)), "in C in int"),
    "choice": (run(replace(conditional(K, X, Y), type=FLOAT)), "in C of type double"),
    "remainder of fractions": (run(operation("%", X, Y)), "integers"),
    "complement of a fraction": (run(unary("~", X)), "integers"),
    "negation": (run(replace(unary("-", K), type=LONG)), "in C of type int"),
    "parentheses": (run(Parentheses(FLOAT, X)), "in C of type double"),
    "comma": (run(Comma(INT, (K, X))), "in C of type double"),
    "pointer": (run(Unary(DOUBLE, X, "*")), "no operator"),
    "no operator": (run(replace(SUM, operator="**")), "no operator"),
    "no access": (run(AccessRef(DOUBLE, 7)), "nothing that it refers to"),
    "access of another type": (run(AccessRef(FLOAT, 0)), "in C of type double"),
    "no loop": (run(IteratorRef(INT, 2)), "nothing that it refers to"),
    "no parameter": (run(ParameterRef(INT, "m")), "nothing that it refers to"),
    "variable behind its block": (
        Block((Block((DECLARED,)), run(assignment("=", X, T)))),
        "nothing that it refers to",
    ),
    "variable before its declaration": (Block((run(assignment("=", X, T)), DECLARED)), "nothing that"),
    "declared twice": (Block((DECLARED, DECLARED)), "twice"),
    "subscripts": (Block((LIST, run(Element(INT, Variable(INT, "list"), (AT, AT))))), "2 subscripts"),
    "fractional subscript": (Block((LIST, run(Element(INT, Variable(INT, "list"), (X,))))), "no integer"),
    "assigned sum": (run(replace(assignment("=", X, Y), target=SUM)), "no variable"),
    "counted constant": (run(Step(INT, ONE, "++", True)), "no variable"),
    "break outside": (Block((COUNTED, Jump("break"))), "outside of a loop"),
    "statement as a value": (run(Nothing()), "where a value"),
    "value as a statement": (While(K, X), "where a statement"),
    "the generator's own integer": (run(operation("+", X, Cast(INT, Constant(1)))), "where a value"),
    "the generator's own name": (run(Cast(INT, Name("i0"))), "where a value"),
    "narrow literal": (run(Literal(replace(INT, name="short", size=2), "1")), "in C of type int"),
}


@pytest.mark.parametrize("name", RIGHT)
def test_nothing_is_wrong_with(name: str) -> None:
    assert faults(RIGHT[name], SCOPE) == []


@pytest.mark.parametrize("name", WRONG)
def test_faults_are_found(name: str) -> None:
    tree, word = WRONG[name]
    found = faults(tree, SCOPE)
    assert len(found) == 1 and word in found[0]


def test_bodies_and_subscripts_of_a_model_are_verified(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(
        "void f(int n, double x[n], int row[n + 1], int at[n]) {\n#pragma scop\n"
        "for (int i = 0; i < n; i++)\n  for (int k = row[i]; k < row[i + 1]; k++) x[i] += i * x[at[k]];\n"
        "#pragma endscop\n}\n"
    )
    (scop,) = read_source(path, CppOptions(), None).scops
    assert statement_faults(scop) == []
    (statement,) = scop.statements
    assert any(access.index_body for access in statement.accesses)
    cut = tuple(replace(a, index_body=(X,)) if a.index_body else a for a in statement.accesses)
    wrong = (replace(statement, iterators=()), replace(statement, accesses=cut))
    for changed in wrong:
        found = statement_faults(replace(scop, statements=(changed,)))
        assert found and all(fault.startswith("S0: ") for fault in found)
