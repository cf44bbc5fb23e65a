# ruff: noqa: E501 (C text is easier to read in one line)
"""Regions with arrays and structures of many kinds."""

from __future__ import annotations

from region_program import Case
from region_program import case as _c

__all__ = ["ARRAYS"]

ARRAYS: list[Case] = [
    # -- arrays
    _c("local_array", "double t[4]; for (int i = 0; i < n; i++) { t[i % 4] = x[i]; y[i] = t[i % 4] * 2; }"),
    _c(
        "local_array_inner",
        "for (int i = 0; i < n; i++) { double t[3]; for (int k = 0; k < 3; k++) t[k] = x[i] * k; y[i] = t[0] + t[1] + t[2]; }",
    ),
    _c(
        "local_initialised",
        "double w[3] = {0.25, 0.5}; for (int i = 1; i < n; i++) y[i] = w[0] * x[i - 1] + w[1] * x[i] + w[2];",
    ),
    _c(
        "local_2d_initialised",
        "double w[2][2] = {{1, 2}, {3}}; for (int i = 0; i < n; i++) y[i] += w[i % 2][1] - w[1][i % 2];",
    ),
    _c(
        "local_vla",
        "double t[n + 1]; for (int i = 0; i <= n; i++) t[i] = i; for (int i = 0; i < n; i++) y[i] = t[n - i];",
    ),
    _c("global_array", "for (int i = 0; i < n; i++) table[i] += table[i + 1];"),
    _c("pointer", "for (int i = 0; i < n; i++) y[i + 1] = y[i] + 1;"),
    _c("dereference", "for (int i = 0; i < n; i++) { *(y + i) += 1; *x += i; (y + 3)[i] -= 1; }"),
    _c(
        "linearised",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[i * m + j] = y[j + i * m] * 2 + i;",
    ),
    _c(
        "linearised_offset",
        "for (int i = 1; i < n; i++) for (int j = 0; j < m; j++) y[(i - 1) * m + j] += y[i * m + j];",
    ),
    _c(
        "linearised_backwards",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[(i + 1) * m - 1 - j] = i * 10 + j;",
    ),
    _c(
        "linearised_3d",
        "for (int i = 0; i < 3; i++) for (int j = 0; j < n; j++) for (int k = 0; k < m; k++) y[(i * n + j) * m + k] += i + j * k;",
    ),
    _c(
        "linearised_cube",
        "for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) for (int k = 0; k < n; k++) y[n * n * i + k + n * j] += i + j * k;",
    ),
    _c(
        "linearised_last_row",
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[i * n + j] = x[j] + y[(n - 1) * n + j] + y[(n - 1) * n + n - 1];",
    ),
    _c(
        "linearised_rows_beyond",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[2 * n * m + i * m + j] = y[i * m + j] - y[n * m + m + j];",
    ),
    # -- memcpy and memset
    _c("copied", "memcpy(y, x, n * sizeof(double)); for (int i = 0; i < n; i++) x[i] += y[i];"),
    _c("copied_from_inside", "memcpy(&y[n], x + 3, sizeof(*x) * n); memcpy(y + 9 * n, y, n * sizeof y[0]);"),
    _c(
        "copied_rows",
        "for (int i = 0; i < n; i++) memcpy(A[i], B[i + 1], m * sizeof(double));",
    ),
    _c(
        "copied_plane",
        "memcpy(y, y + 1000, n * m * sizeof(double)); for (int i = 0; i < n; i++) y[i * m] = i;",
    ),
    _c(
        "copied_whole",
        "double t[3][4]; for (int i = 0; i < 12; i++) t[i / 4][i % 4] = i; memcpy(y, t, sizeof t); y[n] = 1;",
        fallback=True,
    ),
    _c(
        "copied_short",
        "double t[3], w[3]; for (int k = 0; k < 3; k++) t[k] = x[k]; memcpy(w, t, sizeof w); for (int i = 0; i < n; i++) y[i] = w[i % 3];",
    ),
    _c(
        "copied_squares",
        "memcpy(&B[1], &B[30], 7 * sizeof(B[0])); memcpy((void *)B[n], B[n + 1], sizeof(double[60]));",
    ),
    _c(
        "cleared",
        "memset(y, 0, n * sizeof *y); memset(idx, 0, (n + 1) * sizeof(int)); memset(f + 1, 0, sizeof(float) * m);",
    ),
    _c("cleared_by_unsigned", "memset(y, 0, u * u * sizeof(double));", fallback=True),
    _c("cleared_plane", "memset(y, 0, (long)n * m * sizeof(double)); memset(B[2], 0, sizeof(B[2]));"),
    _c(
        "cleared_in_loop",
        "for (int i = 0; i < n; i++) { memset(y, 0, m * sizeof(*y)); for (int j = 0; j < m; j++) y[j] += i * j; x[i] = y[m]; }",
    ),
    _c(
        "copied_as_stepped",
        "int at = 0; for (int i = 0; i < n; i++) memcpy(&y[at++], &x[i], sizeof(double));",
        fallback=True,
    ),
    _c("copied_as_many_as_it_says", "memcpy(idx, cnt, cnt[3] * sizeof(int));", fallback=True),
    _c("copied_as_other_type", "memcpy(f, idx, n * sizeof(int));", fallback=True),
    _c(
        "copied_as_long_as_it_was",
        "memcpy(y, x, sizeof was);",
        before="double was[n + 1]; was[0] = 0; n = 3;",
        fallback=True,
    ),
    _c("set_to_ones", "memset(idx, -1, n * sizeof(int));", fallback=True),
    _c("linearised_corner", "for (int i = 0; i < n; i++) y[i] = y[n * n + i] + y[(n + 1) * (n + 1)];"),
    _c(
        "linearised_unprovable",
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[i * m + j] += i - j;",
    ),
    _c(
        "place",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { int p = i * m + j; y[p] = y[p] * 2 + i; }",
    ),
    _c(
        "place_outside",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { p = i * m + j; y[p] += i; }",
        before="int p;",
    ),
    _c(
        "place_kept",
        "for (int i = 0; i < n; i++) { p = i * m; y[p] += i; }",
        before="int p = 3;",
        after="x[0] += p;",
    ),
    _c(
        "place_hoisted",
        "for (int i = 0; i < n; i++) { int row = i * m; for (int j = 0; j < m; j++) y[row + j] += y[j + row] - j; }",
    ),
    _c(
        "place_of_changed",
        "for (int i = 0; i < n; i++) { int k = i, p = k * m; k = 1; for (int j = 0; j < m; j++) y[p + j] += k; }",
    ),
    _c(
        "place_guarded",
        "for (int i = 0; i < n; i++) { p = i * m; if (x[i] > 2) p = 0; y[p] += i; }",
        before="int p;",
    ),
    _c(
        "place_branches",
        "for (int i = 0; i < n; i++) { if (i % 3 == 1) p = i * m; else p = n * m; y[p] += i; }",
        before="int p;",
    ),
    _c(
        "place_carried",
        "for (int i = 0; i < n; i++) { p = i * m; for (int j = 0; j < 3; j++) { y[p] += j; p = 0; } }",
        before="int p;",
    ),
    _c(
        "place_stepped",
        "for (int i = 0; i < n; i++) { p = i * m; y[p] += 1; p += 1; y[p] += 2; p++; y[p] += 3; }",
        before="int p;",
    ),
    _c("place_behind", "for (int i = 0; i < n; i++) p = i * m; y[p] += 1;", before="int p = 1;"),
    _c(
        "place_wide",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { size_t p = (size_t)i * m + j; const long q = (long)(i * m) + j; y[p] += y[q]; }",
    ),
    _c(
        "place_narrow",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { short p = i * m + j; unsigned char q = i * m + j; y[p] += y[q]; }",
    ),
    _c(
        "place_unsigned",
        "for (int i = 1; i < n; i++) { unsigned p = i * u - 1; y[p + 1] += i; }",
        before="u = u % 7;",
    ),
    _c(
        "place_called",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[place_at(i, j, m)] += y[place_at(i, 0, m)] + i;",
        top="static int place_at(int i, int j, int m) { return i * m + j; }",
    ),
    _c(
        "place_called_twice",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[place_out(i, j, m)] += i;",
        top="static int place_in(int k, int w) { return k * w; }\nstatic int place_out(int i, int j, int m) { return place_in(i, m) + j; }",
    ),
    _c(
        "row",
        "for (int i = 0; i < n; i++) { const double *a = A[i]; double *b = &B[i][0]; for (int j = 0; j < m; j++) b[j] = a[j] + j; }",
    ),
    _c(
        "row_of_flat",
        "for (int i = 1; i < n; i++) { double *r = y + i * m; const double *up = r - m; for (int j = 0; j < m; j++) r[j] += up[j] + *r; }",
    ),
    _c(
        "row_in_row",
        "for (int i = 0; i < n; i++) { double *r = &y[i * m]; for (int j = 0; j < m; j++) { double *e = r + j; *e += j; e[0] *= 2; } }",
    ),
    _c(
        "row_of_structure",
        "for (int i = 0; i < 3; i++) { double *q = s->p + i * s->n; for (int j = 0; j < 3; j++) q[j] += i; }",
    ),
    _c(
        "row_of_changed_structure",
        "for (int i = 0; i < 3; i++) { double *q = s->p + s->n; s->n = i; q[0] += i; }",
        fallback=True,
    ),
    _c(
        "row_of_records",
        "for (int i = 0; i < n; i++) { struct cell *c = &cells[i]; c->mass += i; c->at[1] = c->at[0] + 1; }",
    ),
    _c(
        "function_of_nothing",
        "for (int i = 0; i < n; i++) y[i] += one_half();",
        top="static double one_half(void) { double one = 1, two = 2; return one / two; }",
    ),
    _c(
        "row_in_function",
        "for (int i = 0; i < n; i++) y[i] = ahead(x, i);",
        top="static double ahead(const double *v, int k) { const double *r = v + k; double s = r[0]; return s + r[1]; }",
    ),
    _c(
        "row_returned",
        "for (int i = 0; i < n; i++) y[i] += nearest(x, i);",
        top="static double nearest(const double *v, int k) { const double *r = v + k; return *r; }",
    ),
    _c("row_measured", "for (int i = 0; i < n; i++) { double *r = B[i]; r[0] = sizeof(r); }", fallback=True),
    _c(
        "row_moved",
        "for (int i = 0; i < n; i++) { double *r = y + i * m; for (int j = 0; j < m; j++) { *r += 1; r++; } }",
    ),
    _c(
        "row_of_changed",
        "for (int i = 0; i < n; i++) { int k = i; double *r = y + k; k = 0; r[k] += 1; }",
        fallback=True,
    ),
    _c(
        "plane",
        "for (int i = 0; i < 3; i++) for (int j = 0; j < n; j++) for (int k = 0; k < m; k++) y[i * plane + j * row + k] += i + plane;",
        before="const long plane = (long)n * m; int row = m;",
    ),
    _c(
        "plane_bound",
        "for (int p = 0; p < plane; p++) y[p] += p; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[i * m + j] += i;",
        before="int plane = n * m;",
    ),
    _c(
        "plane_changed",
        "for (int i = 0; i < 3; i++) for (int j = 0; j < n; j++) y[i * plane + j] += i;",
        before="int plane = n * m; plane -= 1;",
    ),
    _c(
        "plane_of_changed",
        "for (int i = 0; i < 3; i++) for (int j = 0; j < n; j++) y[i * plane + j] += i;",
        before="int k = n, plane = k * m; k = 1; y[k] += 1;",
    ),
    _c(
        "address_given",
        "for (int i = 0; i < n; i++) { int k = i / 2; turn(&k, n); y[k] += i; }",
        top="static void turn(int *p, int n) { *p = n - 1 - *p; p[0] += 1; }",
    ),
    _c(
        "address_given_of_member",
        "for (int i = 0; i < n; i++) { struct spot t; t.k = i; move(&t, n); y[t.k] += i; }",
        top="struct spot { int k; };\nstatic void move(struct spot *t, int n) { t->k = n - t->k; }",
    ),
    _c(
        "address_given_and_used",
        "for (int i = 0; i < n; i++) { int k = i; shift(y + k, &k, n); }",
        top="static void shift(double *r, int *k, int n) { *k = n; r[0] += 1; }",
        fallback=True,
    ),
    _c(
        "row_under_address",
        "for (int i = 0; i < n; i++) { int k = i; double *r = y + k; spin(&k); r[0] += k; }",
        top="static void spin(int *p) { *p = 3; }",
        fallback=True,
    ),
    _c(
        "plane_hidden",
        "for (int i = 0; i < 3; i++) for (int j = 0; j < n; j++) y[i * plane + j] += i;",
        before="const int plane = n * m; { int m = 2; y[m] += 1;",
        after="}",
    ),
    _c(
        "plane_condition",
        "for (int i = 0; i < 3; i++) for (int j = 0; j < n; j++) if (j < plane) y[i * plane + j] += i;",
        before="int plane = n * m;",
    ),
    _c(
        "linearised_far",
        "for (int i = 0; i < 2; i++) for (int j = 2; j < n - 2; j++) for (int k = 3; k < m - 3; k++) { int c = (i * n + j) * m + k; y[c] += y[c + 2 * m] - y[c - 2 * m + 3] + y[c + 2 * n * m - 1]; }",
    ),
    _c(
        "linearised_pairs",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { y[2 * (i * m + j)] += i; y[2 * (i * m + j) + 1] -= y[2 * j]; }",
    ),
    _c(
        "linearised_records",
        "for (int i = 0; i < 3; i++) for (int j = 0; j < m; j++) for (int k = 0; k < 5; k++) y[(i * m + j) * 5 + k] += k * y[j * 5];",
    ),
    _c(
        "linearised_wide_rows",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[i * (2 * m) + j] += y[i * 2 * m + m + j] - i;",
    ),
    _c("flat_constant", "for (int i = 0; i < 6; i++) for (int j = 0; j < 8; j++) y[i * 8 + j] = i - j;"),
    _c("quadratic", "for (int i = 0; i < n; i++) y[i * i] += i;"),
    _c("gather", "for (int i = 0; i < n; i++) y[i] = x[idx[i]] + x[idx[i + 1]];"),
    _c("scatter", "for (int i = 0; i < n; i++) x[idx[i]] += y[i];"),
    _c("gather_2d", "for (int i = 0; i < n; i++) y[i] = B[idx[i]][i] + B[i][idx[i]];"),
    _c("histogram", "for (int i = 0; i < n; i++) cnt[cnt[i] % 5]++;"),
    _c("running_index", "int k = 0; for (int i = 0; i < n; i++) if (x[i] > 0) { y[k] = x[i]; k++; }"),
    _c("inner_row", "for (int i = 0; i < n; i++) for (int j = 0; j < m + 3; j++) A[i][j] = A[i + 1][j + 1];"),
    _c(
        "out_of_row",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m + 8; j++) A[i][j] = 5;",
        fallback=True,
    ),
    _c(
        "pointer_to_array",
        "for (int i = 0; i < n; i++) for (int j = 0; j < 60; j++) (*q)[i][j] += 1;",
        before="double (*q)[60][60] = (double (*)[60][60])B;",
    ),
    _c(
        "rows_pointer",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) q[i][j] += 1;",
        before="double (*q)[m + 5] = A;",
    ),
    _c("negative_offset", "for (int i = 0; i < n; i++) q[i - 3] = i;", before="double *q = y + 5;"),
    # -- structures
    _c("struct_member", "for (int i = 0; i < s->n; i++) s->w[i] = s->w[i] * s->scale + s->p[i];"),
    _c("struct_scalar", "for (int i = 0; i < n; i++) s->hits += i;"),
    _c(
        "struct_local",
        "for (int i = 0; i < t.n; i++) { t.w[i] += 1; x[i] = t.w[i]; }",
        before="state_t t = *s;",
        after="y[0] = t.w[3];",
    ),
    _c(
        "struct_members_are_no_variables",
        "for (int i = 0; i < n; i++) { struct { int n; float x; } v; v.n = i; x[i] = v.n * o.y + i; }",
        before="struct { double x, y; int i; } o = {1, 2, 3}, *q = &o;",
        after="y[0] = q->x;",
    ),
    _c("struct_deref", "for (int i = 0; i < (*s).n; i++) (*s).w[i] = i;"),
    # -- arrays of structures
    _c(
        "record_members",
        "for (int i = 0; i < n; i++) { pairs[i].a += x[i]; y[i] = pairs[i + 1].b * (pairs + i)->a; }",
    ),
    _c(
        "record_inner_array",
        "for (int i = 0; i < n; i++) for (int k = 0; k < 3; k++) cells[i].at[k] += cells[i + 1].mass * k;",
    ),
    _c(
        "record_linearised",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { q[i * m + j].a += i; (q + j + m * i)->b -= q[j].a; }",
        before="pair_t *q = (pair_t *)y;",
    ),
    _c(
        "record_linearised_columns",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) q[i + j * n].at[j % 3] += q[i + j * n].mass;",
        before="struct { double at[3], mass; } *q = (void *)y;",
    ),
    _c(
        "record_linearised_constant",
        "for (int i = 0; i < 6; i++) for (int j = 0; j < 7; j++) pairs[i * 7 + j].a = pairs[i * 7].b + j;",
    ),
    _c(
        "rows_linearised",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < 5; k++) q[i * m + j][k] += q[j][4 - k];",
        before="double (*q)[5] = (void *)y;",
    ),
    _c("record_pointer", "for (int i = 0; i < n; i++) q[i].b = q[i + 2].a;", before="pair_t *q = pairs + 4;"),
    _c(
        "record_copies",
        "for (int i = 0; i < n; i++) { pair_t t = pairs[i + 1], u = {2.0}; pairs[i] = t; pairs[i].b += u.a + u.b; }",
    ),
    _c("record_gather", "for (int i = 0; i < n; i++) y[i] = pairs[idx[i]].b;"),
    _c(
        "record_mixed_types",
        "for (int i = 0; i < n; i++) cells[i].mass = cells[i].kind;",
        fallback=True,
    ),
    _c(
        "record_and_structure",
        "for (int i = 0; i < n; i++) q[i].b = q->a;",
        before="pair_t *q = pairs;",
        fallback=True,
    ),
    _c(
        "record_packed",
        "for (int i = 0; i < n; i++) x[i] = packed[i].d;",
        top="static struct __attribute__((packed)) odd { char c; double d; } packed[40];",
        fallback=True,
    ),
]
