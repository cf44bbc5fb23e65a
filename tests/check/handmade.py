"""A region, its model and its generated files written by hand, so that the checker is tested alone.

The "offloaded" code is plain C for this computer's compiler; each test breaks it in its own way.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import islpy as isl

from swbuild.check import CheckSettings
from swbuild.codegen.unit import EntryArgument, GeneratedFile, GeneratedUnit, RegionUnit
from swbuild.diagnostics import Span
from swbuild.expressions.statements import Nothing
from swbuild.expressions.types import ElementType, TypeKind
from swbuild.frontend import CppOptions, read_source
from swbuild.frontend.request import SourceModel
from swbuild.frontend.scop import Access, AccessKind, Address, Array, Parameter, Scop, Statement, Storage
from swbuild.toolchain import Overrides, Role, Target

__all__ = ["DOUBLE", "INT", "RIGHT", "SETTINGS", "SOURCE", "make_model", "make_unit"]

DOUBLE = ElementType("double", 8, TypeKind.FLOAT)
INT = ElementType("int", 4, TypeKind.SIGNED)

SOURCE = """\
#include "factor.h"
extern void elsewhere(double *);
double total;
struct box { double *w; int n; };

void smooth(int n, int m, double A[n][m], double B[n][m], struct box *s)
{
    double last = 0.0;
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 1; j < m; j++) {
            B[i][j] = FACTOR * (A[i][j - 1] + A[i][j]) + s -> w[j];
            total += B[i][j];
            last = B[i][j];
        }
#pragma endscop
    elsewhere(&last);
}

int main(void) { return 3; }
"""

#: What a right entry does; tests replace parts of it.
RIGHT = """\
#include "factor.h"
int sw_smooth(int n, int m, const double *A, double *B, const double *w, double *sum, double *last)
{
    for (int i = 0; i < n; i++)
        for (int j = 1; j < m; j++) {
            B[i * m + j] = FACTOR * (A[i * m + j - 1] + A[i * m + j]) + w[j];
            *sum += B[i * m + j];
            *last = B[i * m + j];
        }
    return 0;
}
extern void elsewhere(double *);
void smooth(void) { double x; elsewhere(&x); }
int main(void) { return 3; }
"""

#: gcc in all roles: what these tests check needs no core group.
SETTINGS = CheckSettings(
    target=Target.NODE,
    timeout=10.0,
    overrides=Overrides(
        drivers=dict.fromkeys(Role, "gcc"),
        flags=dict.fromkeys(Role, ("-O2", "-std=gnu99", "-ffp-contract=off")),
        libraries=("-lm",),
    ),
)


def make_model(directory: Path, source: str = SOURCE) -> SourceModel:
    """Write the user's files and return what the front end would say of them."""
    path = directory / "smooth.c"
    path.write_text(source)
    (directory / "factor.h").write_text("#define FACTOR 0.375\n")
    read = read_source(path, CppOptions(includes=(str(directory),)), None)
    scop = replace(_scop(path), frame=read.scops[0].frame, around=read.scops[0].around)
    return replace(read, scops=(scop,), dependencies=(str(path),))


def make_unit(model: SourceModel, host: str = RIGHT, exact: bool = True) -> GeneratedUnit:
    """Return a generated unit whose host file is ``host``."""
    scop = model.scops[0]
    arguments = (
        EntryArgument("n", INT, True, True, False),
        EntryArgument("m", INT, True, True, False),
        EntryArgument("A", DOUBLE, False, True, False),
        EntryArgument("B", DOUBLE, False, False, True),
        EntryArgument("s_w", DOUBLE, False, True, False),
        EntryArgument("total", DOUBLE, False, True, True),
        EntryArgument("last", DOUBLE, False, False, True),
    )
    said = {"kernels": [], "block": 0}
    region = RegionUnit(
        scop, "sw_smooth", arguments, ("smooth_k0",), exact, said, refusals=("'A' and 'B' overlap",)
    )
    header = GeneratedFile("smooth.sw.h", "")
    return GeneratedUnit(model.path, GeneratedFile("smooth.host.c", host), None, header, (region,))


def _scop(path: Path) -> Scop:
    span = Span(str(path))
    arrays = (
        _array("A", ("n", "m"), "double A[n][m]", Address("A", 2), Storage.PARAMETER, const=True),
        _array("B", ("n", "m"), "double B[n][m]", Address("B", 2), Storage.PARAMETER),
        _array("s_w", (None,), "double *s_w", Address("s->w", 1), Storage.PARAMETER),
        _array("total", (), "double total", Address("total"), Storage.GLOBAL),
        _array("last", (), "double last", Address("last"), Storage.LOCAL),
    )
    domain = isl.Set("[n, m] -> { S0[i, j] : 0 <= i < n and 1 <= j < m }")
    reads = isl.Map("[n, m] -> { S0[i, j] -> s_w[j] : 0 <= i < n and 1 <= j < m }")
    access = Access("s_w", AccessKind.READ, reads, 0, True, span)
    return Scop(
        name="smooth",
        function="smooth",
        label="",
        source=str(path),
        span=Span(str(path), 9, 1, 15, 1),
        parameters=(Parameter("n", "n", INT, span), Parameter("m", "m", INT, span)),
        arrays=arrays,
        statements=(Statement("S0", domain, (), (access,), Nothing(), span),),
        schedule=isl.Schedule.from_domain(isl.UnionSet("[n, m] -> { S0[i, j] }")),
        context=isl.Set("[n, m] -> { : n >= 1 and m >= 1 }"),
        assumptions=isl.Set("[n, m] -> { : m <= 1000 }"),
    )


def _array(
    name: str,
    extents: tuple[str | None, ...],
    declaration: str,
    address: Address,
    storage: Storage,
    const: bool = False,
) -> Array:
    sizes = tuple(None if e is None else isl.PwAff(f"[n, m] -> {{ [({e})] }}") for e in extents)
    return Array(name, DOUBLE, sizes, storage, declaration, address, True, Span("-"), 0, const)
