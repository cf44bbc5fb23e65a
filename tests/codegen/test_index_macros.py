"""Parameters of the macros that index arrays."""

from __future__ import annotations

from swbuild.codegen.ctext import index_macro
from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Name

ZERO = Constant(0)


def test_parameters_of_a_macro_clash_with_no_name_in_its_text() -> None:
    assert index_macro("M", "a", ("", "n"), (ZERO, ZERO)) == ("M(i, j)", "a[(i) * n + (j)]")
    assert index_macro("M", "i", ("", "n"), (ZERO, ZERO))[0] == "M(i_, j)"
    named = index_macro("M", "a", ("", "(i + j_)"), (ZERO, ZERO), frozenset({"i", "j_"}))
    assert named == ("M(i_, j)", "a[(i_) * (i + j_) + (j)]")
    low = Binary(BinaryOperator.ADD, Name("j"), Name("i"))
    assert index_macro("M", "a", ("", "n"), (ZERO, low)) == ("M(i_, j_)", "a[(i_) * n + ((j_) - (j + i))]")
