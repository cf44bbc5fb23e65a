"""Which products and sums become multiply-adds, and how these are spelled."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from generation import generated, model_of

from swbuild.expressions.contraction import contracted
from swbuild.expressions.statement_printing import statement_text
from swbuild.options import KernelOptions, Preset, Vectorize

HEAD = (
    "#include <math.h>\nstatic double pure(double x) { return x * x + 1; }\n"
    "static void taken_in(double *x, double y) { *x = y * y + 1; }\n"
    "void f0(int n, double a[restrict n], double b[restrict n], double c, float f[restrict n], float g,\n"
    "        int k[restrict n], unsigned u)\n{\n#pragma scop\nfor (int i = 0; i < n; i++) {\n"
)


def text_of(body: str) -> str:
    return f"{HEAD}{body}\n}}\n#pragma endscop\n}}\n"


FUSED = [
    ("a[i] = b[i] * c + a[i];", "#2 = __builtin_fma(#0, c, #1);"),
    ("a[i] = a[i] + b[i] * c;", "#2 = __builtin_fma(#1, c, #0);"),
    ("a[i] = a[i] + (b[i] * c);", "#2 = __builtin_fma(#1, c, #0);"),
    ("a[i] = b[i] * c - a[i];", "#2 = __builtin_fma(#0, c, -#1);"),
    ("a[i] = a[i] - b[i] * c;", "#2 = __builtin_fma(-#1, c, #0);"),
    ("a[i] += b[i] * c;", "#0 = __builtin_fma(#1, c, #0);"),
    ("a[i] -= b[i] * c;", "#0 = __builtin_fma(-#1, c, #0);"),
    # of two products the left one
    ("a[i] = b[i] * c + a[i] * c;", "#2 = __builtin_fma(#0, c, #1 * c);"),
    ("a[i] = b[i] * c - a[i] * c;", "#2 = __builtin_fma(#0, c, -(#1 * c));"),
    # a product of three is one of its last factor
    ("a[i] += c * b[i] * c;", "#0 = __builtin_fma(c * #1, c, #0);"),
    # each sum of a chain by itself
    ("a[i] = c + b[i] * c + a[i] * c;", "#2 = __builtin_fma(#1, c, __builtin_fma(#0, c, c));"),
    ("a[i] = (b[i] * c + c) * (a[i] * c - c);", None),
    # what is subtracted is converted first: a negative unsigned would be another number
    ("a[i] -= u * b[i];", "#0 = __builtin_fma(-(double)u, #1, #0);"),
    ("a[i] = b[i] * c - u;", "#1 = __builtin_fma(#0, c, -(double)u);"),
    ("f[i] += f[i] * g;", "#0 = __builtin_fmaf(#1, g, #0);"),
    # computed in double, stored as float
    ("f[i] += f[i] * c;", "#0 = __builtin_fma(#1, c, #0);"),
    ("if (b[i] * c + c > 0) a[i] = c;", None),
    ("a[i] = pure(b[i] * c + c);", None),
]

LEFT = [
    "a[i] = b[i] + c;",
    "a[i] = b[i] * c;",
    "a[i] *= b[i] + c;",
    "a[i] = f[i] * g + c;",  # rounded to float, then a sum of doubles
    "a[i] = (double)(b[i] * c) + c;",
    "a[i] = -(b[i] * c) + c;",
    "a[i] = fabs(b[i] * c) + c;",
    "a[i] = (b[i] > 0 ? b[i] * c : c) + c;",
    "a[i] = pure(c) + c;",
    "k[i] += k[i] * 3;",
    "a[i] += k[i] * 3;",  # a product of integers
    "{ double t = b[i] * c; a[i] = t + c; }",
    "a[i] += b[i] / c;",
]


def bodies(tmp_path: Path, body: str) -> list[str]:
    model = model_of(tmp_path, text_of(body))
    assert not model.refused, model.refused
    return [statement_text(contracted(s.body)) for s in model.scops[0].statements]


@pytest.mark.parametrize(("body", "expected"), FUSED)
def test_sums_of_products_are_multiply_adds(body: str, expected: str | None, tmp_path: Path) -> None:
    found = " ".join(bodies(tmp_path, body))
    assert "__builtin_fma" in found
    if expected is not None:
        assert _shape(found) == _shape(expected)


def _shape(text: str) -> str:
    """Return ``text`` without the names of what it accesses."""
    return re.sub(r"#\d+|\b[cgu]\b", "x", text)


@pytest.mark.parametrize("body", LEFT)
def test_other_products_are_rounded(body: str, tmp_path: Path) -> None:
    model = model_of(tmp_path, text_of(body))
    for statement in model.scops[0].statements:
        assert contracted(statement.body) == statement.body


def test_bodies_of_functions_that_are_taken_in_are_left_alone(tmp_path: Path) -> None:
    model = model_of(tmp_path, text_of("taken_in(&a[i], b[i]); a[i] += b[i] * c;"))
    assert not model.refused and not model.scops[0].contracted
    text = text_of("taken_in(&a[i], b[i]); a[i] += b[i] * c;")
    unit = generated(tmp_path, text, KernelOptions(contract=True))
    assert unit.slave is not None and "fma" not in unit.slave.text and "vmad" not in unit.slave.text


@pytest.mark.parametrize("machine", ["sw26010", "sw26010-pro"])
def test_vectors_have_multiply_adds_of_their_own(machine: str, tmp_path: Path) -> None:
    body = "a[i] += b[i] * c; b[i] = c - b[i] * a[i]; a[i] = a[i] * b[i] - 2.0 * c; f[i] -= f[i] * g;"
    unit = generated(tmp_path, text_of(body), KernelOptions(machine=machine, contract=True))
    assert unit.slave is not None
    for word in ("simd_vmad(", "simd_vnmad(", "simd_vmsd(", "simd_vnmas("):
        assert word in unit.slave.text
    assert unit.slave.text.index("#define SWBUILD_EMU_FUSED 1") < unit.slave.text.index("#include <simd.h>")


def test_a_product_without_elements_stays_with_its_sum(tmp_path: Path) -> None:
    unit = generated(tmp_path, text_of("a[i] = b[i] + c * 0.1;"), KernelOptions(contract=True))
    assert unit.slave is not None and "simd_vmad(c_v, number_v, b0)" in unit.slave.text


@pytest.mark.parametrize(
    "options",
    [
        KernelOptions(contract=True, vectorize=Vectorize.NEVER),
        KernelOptions(contract=True, preset=Preset.CLASSIC),
    ],
)
def test_scalars_have_calls(options: KernelOptions, tmp_path: Path) -> None:
    unit = generated(tmp_path, text_of("a[i] += b[i] * c;"), options)
    assert unit.slave is not None
    assert "LDM_a(i) = __builtin_fma(LDM_b(i), c, LDM_a(i));" in unit.slave.text
    assert "SWBUILD_EMU_FUSED" not in unit.slave.text


def test_nothing_is_contracted_without_the_option(tmp_path: Path) -> None:
    unit = generated(tmp_path, text_of("a[i] += b[i] * c;"))
    assert unit.slave is not None
    assert not any(word in unit.slave.text for word in ("fma", "vmad", "SWBUILD_EMU"))
