"""Sizes whose names or values are others where the region stands than where a type was declared."""

from __future__ import annotations

from pathlib import Path

import pytest

from swbuild.frontend import CppOptions, SourceModel, read_source

LOOP = """\
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] += i * 10 + j;
#pragma endscop
"""

HEAD = """\
typedef struct { int n, m; } T;
static int g, h;
static int k = 9;
void scan(int *, void *);
void less(void) { g = g - 1; }
void fewer(void) { less(); }
void more(void) { h++; }
void shrink(T *s) { s->n--; }
"""

CHANGED = {
    "changed behind the type": "typedef double row[n]; n = n / 2; row *a = (row *)p;",
    "changed in a loop": "typedef double row[n]; for (; n > 1; n /= 2) { row *a = (row *)p;",
    "hidden for the type": "int m = n; typedef double row[m]; { int m = 5; row *a = (row *)p; n += m;",
    "hidden for the array": "double (*a)[n] = (double (*)[n])p; { int n = 40;",
    "changed through a pointer": "int *q = &n; double (*a)[n] = (double (*)[n])p; *q = 3;",
    "changed by a callee": "double (*a)[g] = (double (*)[g])p; less();",
    "changed by a callee's callee": "double (*a)[g] = (double (*)[g])p; fewer();",
    "changed by some callee": "double (*a)[g] = (double (*)[g])p; any();",
    "changed through another pointer": "T *t = s; double (*a)[s->n] = (double (*)[s->n])p; t->n = 3;",
    "changed as a member by a callee": "double (*a)[s->n] = (double (*)[s->n])p; shrink(s);",
    "changed in a nested function": (
        "int l = n; void half(void) { l = 3; } double (*a)[l] = (double (*)[l])p; half();"
    ),
}
KEPT = {
    "changed before the type": "n = n / 2; typedef double row[n]; row *a = (row *)p;",
    "read before the type": "int m; scan(&m, (void *)&n); double (*a)[n] = (double (*)[n])p;",
    "changed by a callee before the type": "less(); double (*a)[g] = (double (*)[g])p;",
    "left alone by callees": "double (*a)[k] = (double (*)[k])p; more(); shrink(s); any();",
    "out of reach of callees": "double (*a)[g] = (double (*)[g])p; scan(0, 0);",
    "another member": "T *t = s; double (*a)[s->n] = (double (*)[s->n])p; t->m = 3;",
    "another name": "int m = n; typedef double row[m]; { int k = 5; row *a = (row *)p; p[0] = k;",
}


def read(tmp_path: Path, before: str) -> SourceModel:
    path = tmp_path / "file.c"
    end = "}" * (before.count("{") - before.count("}"))
    path.write_text(
        f"{HEAD}void f(int n, double *p, T *s, void (*any)(void)) {{\n  {before}\n{LOOP}{end}}}\n"
    )
    return read_source(path, CppOptions(), None)


@pytest.mark.parametrize("name", CHANGED)
def test_an_extent_that_means_something_else_is_not_known(name: str, tmp_path: Path) -> None:
    model = read(tmp_path, CHANGED[name])
    assert "the extent of dimension 2 of 'a' is not known" in model.refused[0].diagnostics[0].message


@pytest.mark.parametrize("name", KEPT)
def test_an_extent_that_is_still_the_same_is_known(name: str, tmp_path: Path) -> None:
    assert [scop.name for scop in read(tmp_path, KEPT[name]).scops] == ["f"]


def test_an_object_that_is_hidden_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file.c"
    path.write_text(
        "double t;\nstatic void add(double v) { t += v; }\n"
        "void f(int n, double *p) {\n  double t = 0;\n#pragma scop\n"
        "  for (int i = 0; i < n; i++) { add(p[i]); t += 1; }\n#pragma endscop\n  p[0] = t;\n}\n"
    )
    model = read_source(path, CppOptions(), None)
    assert model.refused, "t of the function is not the t that add adds to"
