"""Which statements evaluate all of their operands whatever the data are."""

from __future__ import annotations

from pathlib import Path

import pytest
from generation import model_of

from swbuild.expressions.statements import is_unconditional

TEXTS = {
    "x[i] = y[i] * 2.0 + x[i];": True,
    "x[i] += (double)(i % 3 + (y[i] < 1.0));": True,
    "x[i] = y[i] > 0.0 ? z[i] : 0.0;": False,
    "x[i] = y[i] > 0.0 && z[i] > 0.0;": False,
    "x[i] = y[i] > 0.0 || z[i] > 0.0;": False,
    "x[i] = fabs(y[i]);": False,
    "if (y[i] > 0.0) x[i] = z[i];": False,
}


@pytest.mark.parametrize(("text", "expected"), TEXTS.items(), ids=map(str, range(len(TEXTS))))
def test_conditions_on_data_are_seen(text: str, expected: bool, tmp_path: Path) -> None:
    program = f"""#include <math.h>
void f(int n, double *restrict x, const double *restrict y, const double *restrict z)
{{
#pragma scop
    for (int i = 0; i < n; i++) {text}
#pragma endscop
}}
"""
    (scop,) = model_of(tmp_path, program).scops
    assert {is_unconditional(statement.body) for statement in scop.statements} == {expected}
