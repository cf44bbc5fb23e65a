# ruff: noqa: E501 (C text is easier to read in one line)
"""Regions of many shapes; each runs as itself and replayed from its model, and must compute the same.

All kernels have one signature (see ``SIGNATURE``); a case gives the text of the region, and text
before and after it in the function where needed.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CASES", "Case", "program"]


@dataclass(frozen=True)
class Case:
    """One region, with declarations around it; ``fallback``: it has no model; ``least``: the smallest n to run."""

    name: str
    region: str
    before: str = ""
    after: str = ""
    top: str = ""
    fallback: bool = False
    least: int = 0


SIGNATURE = (
    "int n, int m, unsigned u, long l, double A[restrict n + 5][m + 5], double B[restrict 60][60], "
    "double x[restrict 80], double *restrict y, float *restrict f, int *restrict idx, int *restrict cnt, "
    "struct state *restrict s"
)

HEAD = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define floord(n, d) (((n) < 0) ? -((-(n) + (d) - 1) / (d)) : (n) / (d))
#define ceild(n, d) ceil(((double)(n)) / ((double)(d)))
#define FLOORD(n, d) floor(((double)(n)) / ((double)(d)))
enum { WIDTH = 7, HEIGHT = WIDTH + 4 };
typedef double real;
typedef struct state { int n; double scale; double w[40]; double *p; int hits; } state_t;
typedef struct { double a, b; } pair_t;
struct cell { int kind; double at[3]; double mass; };
static int global_n = 9;
static pair_t pairs[60];
static struct cell cells[50];
static double table[64];
static const int fixed = 6;
"""

MAIN = """
static double A[40 * 40], B[60][60], x[80], y[2000], p[200];
static float f[200];
static int idx[200], cnt[200];
static state_t s;

static void fill(void) {
  for (int i = 0; i < 1600; i++) A[i] = (i * 37 % 101) * 0.25 - 7;
  for (int i = 0; i < 3600; i++) B[i / 60][i % 60] = (i * 53 % 89) * 0.5 - 11;
  for (int i = 0; i < 80; i++) x[i] = (i * 29 % 31) * 0.125 - 1.5;
  for (int i = 0; i < 2000; i++) y[i] = (i * 31 % 97) * 0.75 - 30;
  for (int i = 0; i < 200; i++) { f[i] = (i * 17 % 23) * 0.1f; idx[i] = (i * 7) % 40; cnt[i] = i % 5; p[i] = i * 0.5; }
  for (int i = 0; i < 60; i++) pairs[i] = (pair_t){ i * 0.7, 3 - i };
  for (int i = 0; i < 50; i++) cells[i] = (struct cell){ i, { i * 0.1, i * 0.2, i * 0.3 }, i + 1 };
  for (int i = 0; i < 64; i++) table[i] = i * 1.5;
  for (int i = 0; i < 40; i++) s.w[i] = i * 0.3;
  s.n = 11; s.scale = 1.25; s.p = p; s.hits = 3; global_n = 9;
}

static unsigned long hash(const void *data, size_t size) {
  const unsigned char *bytes = data;
  unsigned long h = 1469598103934665603UL;
  for (size_t i = 0; i < size; i++) h = (h ^ bytes[i]) * 1099511628211UL;
  return h;
}

static void show(void) {
  printf("%lx %lx %lx %lx %lx %lx %lx %lx %lx %d %d\\n", hash(A, sizeof A), hash(B, sizeof B), hash(x, sizeof x),
         hash(y, sizeof y), hash(f, sizeof f), hash(idx, sizeof idx), hash(cnt, sizeof cnt), hash(p, sizeof p),
         hash(table, sizeof table) ^ hash(s.w, sizeof s.w) ^ hash(pairs, sizeof pairs) ^ hash(cells, sizeof cells), s.hits, global_n);
}

int main(void) {
  static const int sizes[][2] = {{0, 0}, {1, 1}, {1, 5}, {2, 3}, {7, 4}, {8, 8}, {13, 11}, {20, 17}};
  for (int t = 0; t < 8; t++) {
    int n = sizes[t][0], m = sizes[t][1];
    (void)n;
    (void)m;
@CALLS@
  }
  return 0;
}
"""


def program(cases: list[Case]) -> str:
    """Return one C file with a kernel for each case and a main that runs them all."""
    kernels = [
        f"{case.top}\nstatic void {case.name}({SIGNATURE}) {{\n{case.before}\n#pragma scop\n{case.region}\n"
        f"#pragma endscop\n{case.after}\n}}\n"
        for case in cases
    ]
    calls = [
        f'    if (n >= {case.least}) {{ fill(); printf("@{case.name} "); fprintf(stderr, "@{case.name} ");'
        f" {case.name}(n, m, n, m, (void *)A, B, x, y, f, idx, cnt, &s); show(); }}"
        for case in cases
    ]
    return HEAD + "".join(kernels) + MAIN.replace("@CALLS@", "\n".join(calls))


def _c(name: str, region: str, **more: object) -> Case:
    return Case(name, region, **more)  # type: ignore[arg-type]


CASES: list[Case] = [
    # -- loops
    _c("plain", "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i][j] = A[i][j] * 2 + i;"),
    _c(
        "outer_counters",
        "for (i = 0; i < n; ++i) for (j = 0; j <= m - 1; j += 1) A[i][j] += i - j;",
        before="int i, j;",
    ),
    _c(
        "strides",
        "for (int i = 1; i < n; i += 3) for (int j = m; j > 0; j -= 2) A[i][j] = A[i][j] / (i + j);",
    ),
    _c("countdown", "for (int i = n - 1; i >= 0; i--) A[i][0] = i + 1 < n ? A[i + 1][0] + 1.5 : 3.0;"),
    _c("countdown_stride", "for (int i = n; i > 2; i = i - 4) x[i] = x[i - 2] * 0.5;"),
    _c("reversed_step", "for (int i = 0; n > i; i = 2 + i) x[i] = x[i + 1] - x[i];"),
    _c("not_equal", "for (int i = 0; i != n; i++) x[i] += 1;"),
    _c("counter_as_condition", "for (int i = n; i; --i) x[i] -= x[i - 1];"),
    _c("not_equal_down", "for (int i = n; 0 != i; --i) x[i] -= x[i - 1];"),
    _c("triangular", "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) B[i][j] += B[j][i];"),
    _c(
        "trapezoid",
        "for (int i = 0; i < n; i++) for (int j = i / 2; j < min(2 * i + 3, 50); j++) B[i][j] *= 1.5;",
    ),
    _c(
        "max_bound",
        "for (int i = max(2, n - 5); i < n; i++) for (int j = max(0, i - 3); j < i; j++) B[j][i] = i * j;",
    ),
    _c("floor_macro", "for (int i = floord(n - 9, 4); i <= floord(n, 3); i++) x[i + 5] += 1;"),
    _c("ceil_macro", "for (int i = ceild(n, 4); i < FLOORD(3 * n, 2); i++) x[i] += i;"),
    _c("two_conditions", "for (int i = 0; i < n && i < m; i++) x[i] = i;"),
    _c("scaled_condition", "for (int i = 0; 3 * i < n; i++) x[i] = -i;"),
    _c("odd_condition", "for (int i = 0; i < n && i != 5; i++) x[i] = 2 * i;"),
    _c("empty_body", "for (int i = 0; i < n; i++) ; for (int i = 0; i < n; i++) x[i] = 1;"),
    _c(
        "imperfect",
        """for (int i = 0; i < n; i++) {
      x[i] = 0;
      for (int j = 0; j < m; j++) { x[i] += A[i][j]; y[j] = x[i]; }
      for (int j = i; j < n; j++) x[j] -= 0.25;
      y[i] = x[i];
    }""",
    ),
    _c(
        "deep",
        """for (int a = 0; a < 3; a++) for (int b = 0; b < n; b++) for (int c = b; c < n; c++)
      for (int d = 0; d < 2; d++) for (int e = 0; e < m; e++) B[b + a][c + d] += e * 0.5 + A[b][e];""",
    ),
    _c(
        "macro_loop",
        "LOOP(i, n) LOOP(j, m) A[i][j] = i ^ j;",
        top="#define LOOP(v, e) for (int v = 0; v < (e); v++)",
    ),
    _c(
        "same_counter_twice",
        "for (i = 0; i < n; i++) x[i] += 1; for (i = n - 1; i >= 0; i--) x[i] += x[i + 1];",
        before="int i;",
    ),
    _c("char_counter", "for (char i = 0; i < n; i++) x[i] = i;"),
    _c("unsigned_counter", "for (unsigned i = 0; i < u; i++) x[i] = i * 3u;"),
    _c("unsigned_minus", "for (unsigned i = 1; i < u - 1; i++) x[i] = x[i - 1] + x[i + 1];", least=1),
    _c("mixed_sign", "for (int i = 0; i < u; i++) x[i] = i - 4;"),
    _c("long_counter", "for (long i = 0; i < l; i++) x[i] = i / 2;"),
    _c("size_t_counter", "for (size_t i = 0; i < (size_t)n; i++) x[i] = i + 1;"),
    _c("size_t_minus", "size_t k = n; for (size_t i = 0; i < k - 1; i++) x[i] = i + 1;", least=1),
    _c("enum_bound", "for (int i = 0; i < WIDTH; i++) for (int j = 0; j < HEIGHT; j++) B[i][j] = WIDTH * j;"),
    _c("const_bound", "for (int i = 0; i < fixed; i++) x[i] = fixed;"),
    _c("global_bound", "for (int i = 0; i < global_n; i++) x[i] = global_n - i;"),
    _c("sizeof_bound", "for (int i = 0; i < (int)sizeof(double); i++) x[i] = sizeof(float) + i;"),
    _c("comma_init", "for (i = 0, j = 0; 0; i++) x[0] = 1;", before="int i, j;", fallback=True),
    # -- conditions
    _c("affine_if", "for (int i = 0; i < n; i++) if (i > 2) x[i] = 1; else x[i] = 2;"),
    _c(
        "else_if",
        """for (int i = 0; i < n; i++) {
      if (i < 2) x[i] = 1; else if (i == 4 || i == 6) x[i] = 2; else if (!(i > 9)) { x[i] = 3; y[i] = 1; } else y[i] = 4; }""",
    ),
    _c(
        "modulo_if",
        "for (int i = 0; i < n; i++) { if (i % 3 == 1) x[i] = 7; if ((i - 6) % 4 == -1) y[i] = 8; }",
    ),
    _c("negative_division", "for (int i = -9; i < n; i++) { x[i / 2 + 8] += 1; y[(i - 3) % 5 + 6] += i; }"),
    _c("negative_divisor", "for (int i = -9; i < n; i++) { y[i / -2 + 20] += 1; y[30 + i % -3] += i; }"),
    _c("size_if", "if (n > 5) { for (int i = 0; i < n; i++) x[i] = 1; } else x[0] = 2;"),
    _c(
        "bits",
        "for (int i = 0; i < n; i++) { x[i & 3] += 1; x[i << 1] += 2; x[i >> 1] += 3; x[i & ~1] += 4; }",
    ),
    _c("ternary_bound", "for (int i = 0; i < (n < 6 ? n : 6); i++) x[i] = i;"),
    _c("ternary_subscript", "for (int i = 0; i < n; i++) x[i < 3 ? i : 2 * i] = i;"),
    _c("boolean_subscript", "for (int i = 0; i < n; i++) x[(i > 4) + 2 * !(i == 1)] += i;"),
    _c("logic", "for (int i = 0; i < n; i++) if ((i > 1 && i < 9) || (i > 11 && i % 2)) x[i] = i;"),
    _c("else_only", "for (int i = 0; i < n; i++) if (i == 3) {} else x[i] = 9;"),
    # -- data-dependent
    _c("data_if", "for (int i = 0; i < n; i++) if (x[i] > 0) y[i] = x[i]; else y[i] -= 1;"),
    _c(
        "data_if_block",
        """for (int i = 0; i < n; i++) {
      if (y[i] > 0 && x[i] < 1) { double t = y[i] * 2; x[i] = t + 1; y[i] = t - x[i]; cnt[i]++; }
      else if (y[i] < -10) x[i] = -1; }""",
    ),
    _c(
        "data_if_loop",
        """for (int i = 0; i < n; i++) {
      if (x[i] > 0) { for (int j = 0; j < m; j++) { A[i][j] = x[i]; if (j > 2) y[j] += 1; } x[i] = -x[i]; }
      else { for (int j = 0; j < m; j++) A[i][j] -= 1; y[i] = 3; } }""",
    ),
    _c(
        "data_if_nested_loops",
        """for (int i = 0; i < n; i++) if (cnt[i] != 2) for (int j = 0; j < m; j++)
      if (A[i][j] > 0) for (int k = 0; k < 3; k++) B[i][j + k] += A[i][j]; else x[j] += 1;""",
    ),
    _c("data_ternary", "for (int i = 0; i < n; i++) y[i] = x[i] > 0 ? x[i] : (cnt[i] > 2 ? -x[i] : 0.0);"),
    _c("guarded_read", "for (int i = 0; i < n; i++) y[i] = i > 0 ? x[i - 1] : 0;"),
    _c("short_circuit", "for (int i = 0; i < n; i++) if (i > 0 && x[i - 1] > 0) y[i] = 1;"),
    _c("clamp", "for (int i = 0; i < n; i++) x[i] = max(min(x[i], 0.5), -0.5);"),
    _c(
        "data_flag_scalar", "if (x[0] > 0) k = 3; for (int i = 0; i < n; i++) x[i] += k;", before="int k = 1;"
    ),
    # -- scalars
    _c("local_scalar", "for (int i = 0; i < n; i++) { double t = x[i]; t *= t; y[i] = t + 1; }"),
    _c(
        "outer_scalar",
        "for (int i = 0; i < n; i++) { t = x[i]; y[i] = t * t; } y[20] = t;",
        before="double t = 5;",
    ),
    _c("live_scalar", "for (int i = 0; i < n; i++) t += x[i];", before="double t = 0.5;", after="y[3] = t;"),
    _c(
        "derived_size",
        "int h = n / 2; int q = h - 1; for (int i = 0; i < h; i++) { x[i] = q; y[q + 1] = i; }",
    ),
    _c(
        "derived_in_loop",
        "for (int i = 0; i < n; i++) { int k = 2 * i + 1; x[k] = k; k = k - 1; x[k] += k; }",
    ),
    _c("switched_value", "int k; if (n > 6) k = 6; else k = n; for (int i = 0; i < k; i++) x[i] = k;"),
    _c(
        "counter_after_loop",
        "for (i = 0; i < n; i++) x[i] = i; for (; i < n + 3; i++) x[i] = -i; x[i] = i;",
        before="int i;",
    ),
    _c("counter_after_stride", "for (i = 1; i < n; i += 4) x[i] = i; y[i] = 77; y[0] = i;", before="int i;"),
    _c("counter_live_out", "for (i = 0; i < n; i += 3) x[i] = i;", before="int i;", after="y[7] = i;"),
    _c("counter_of_while", "for (i = 5; i > n; i--) x[i] = i; x[i] = 3;", before="int i;"),
    _c(
        "region_in_loop",
        "for (i = 0; i < n; i++) x[i] += t * y[i];",
        before="int i; for (int t = 0; t < 3; t++) {",
        after="x[0] += 1; }",
    ),
    _c("post_increment", "for (int i = 0; i < n; i++) { cnt[i]++; --idx[i]; y[i] = cnt[i]++ + 1; }"),
    _c(
        "compound",
        "for (int i = 0; i < n; i++) { x[i] += 1; x[i] -= 0.5; x[i] *= 3; x[i] /= 7; cnt[i] %= 3; cnt[i] <<= 2; cnt[i] |= 1; }",
    ),
    _c("chained", "for (int i = 0; i < n; i++) x[i] = y[i] = i * 0.5;"),
    _c("comma", "for (int i = 0; i < n; i++) x[i] = 1, y[i] = x[i] + 2;"),
    # -- types and arithmetic
    _c(
        "casts",
        "for (int i = 0; i < n; i++) { x[i] = (double)i / n; y[i] = (int)y[i]; f[i] = (float)x[i] * f[i]; }",
    ),
    _c(
        "float_order",
        "for (int i = 1; i < n; i++) x[i] = x[i] - (x[i - 1] - (y[i] + (y[i - 1] + 0.1))) / (x[i] * (y[i] / 3));",
    ),
    _c("float_literal", "for (int i = 0; i < n; i++) f[i] = f[i] * 0.1f + 1e-3f - .5f;"),
    _c(
        "int_division",
        "for (int i = 0; i < n; i++) cnt[i] = (cnt[i] + 7) / (i + 1) * 3 % 4 - (i - (cnt[i] - 2));",
    ),
    _c("unsigned_data", "for (int i = 0; i < n; i++) { unsigned v = cnt[i]; v = v - 7u; y[i] = v / 2; }"),
    _c("shift_text", "for (int i = 0; i < n; i++) cnt[i] = (cnt[i] + 1) << 2 | (cnt[i] & 6) ^ 3;"),
    _c("typedef_type", "for (int i = 0; i < n; i++) { real t = x[i]; y[i] = (real)i + t; }"),
    _c("minus_minus", "for (int i = 0; i < n; i++) x[i] = - -x[i] - -1.0 + +2;"),
    _c(
        "math",
        "for (int i = 0; i < n; i++) { y[i] = sqrt(fabs(x[i])) + pow(2.0, i) - exp(x[i] * 0.1); f[i] = sqrtf(f[i]); }",
    ),
    _c(
        "own_function",
        "for (int i = 0; i < n; i++) x[i] = mix(x[i], i);",
        top="static double half(double v) { return v / 2; }\n"
        "static double mix(double v, int k) { double r = 0; for (int i = 0; i < k; i++) r += half(v); return r; }",
    ),
    _c(
        "bound_function",
        "for (int i = 0; i < smaller(n, 6); i++) x[i] = i;",
        top="static inline int smaller(int a, int b) { return a < b ? a : b; }",
    ),
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
    # -- loops that depend on data, inside counted ones
    _c(
        "sparse_rows",
        "for (int i = 0; i < n; i++) { double t = 0; for (int k = cnt[i]; k < cnt[i] + idx[i]; k++) t += x[k % 40] * y[k]; y[i + 100] = t; }",
    ),
    _c(
        "sparse_rows_with_outer_counters",
        "for (j = 0; j < n; j++) x[j] = j; for (i = 0; i < n; i++) for (j = cnt[i]; j < idx[i]; j++) for (k = 0; k < 2; k++) y[i] += x[j] * k;",
        before="int i, j, k;",
    ),
    _c(
        "labels_that_nothing_goes_to",
        "outer: for (i = 0; i < n; i++) { inner: for (k = 0; k < cnt[i]; k++) y[i] += k; }",
        before="int i, k;",
    ),
    _c(
        "counter_seen_later",
        "for (int i = 0; i < n; i++) { for (k = 0; k < cnt[i]; k++) y[i] += 1; x[i] = k; }",
        before="int k;",
    ),
    _c(
        "while_in_loop",
        "for (int i = 0; i < n; i++) { int v = idx[i], c = 0; while (v > 1) { v = v % 2 ? 3 * v + 1 : v / 2; c++; } cnt[i] = c; }",
    ),
    _c(
        "do_in_loop",
        "for (int i = 0; i < n; i++) { int v = idx[i]; do { x[i] += v; v /= 2; } while (v); y[i] = v; }",
    ),
    _c(
        "search",
        "for (int i = 0; i < n; i++) { int at = -1; for (int j = 0; j < m; j++) { if (A[i][j] < 0) continue; if (A[i][j] > 1) { at = j; break; } } cnt[i] = at; }",
    ),
    _c(
        "set_before_continue",
        "for (int i = 0; i < n; i++) { double t = 5; for (int k = 0; k < cnt[i]; k++) { if (k % 2) continue; t = k; } y[i] = t; }",
    ),
    _c(
        "data_dependent_loop_under_condition",
        "for (int i = 0; i < n; i++) if (x[i] > 0) for (int k = 0; k < cnt[i]; k++) { y[i] += k; x[i] -= 0.5; }",
    ),
    _c(
        "arrays_of_a_statement",
        "for (int i = 0; i < n; i++) for (int k = 0; k < cnt[i]; k++) { double v[2][3] = {{1}, {x[i], 2}}; for (int j = 0; j < 3; j++) { v[0][j] = x[i] * j; v[1][2 - j] = k; } y[i] += v[0][k % 3] + v[1][1]; }",
    ),
    _c(
        "several_counters",
        "for (int i = 0; i < n; i++) for (int j = cnt[i], k = 2 * i; j < 9; j++, k += 2) y[k] += x[j];",
    ),
    _c(
        "sizes_in_an_array",
        "for (int i = 0; i < box[0] - 1; i++) for (int j = box[1]; j >= 0; j--) A[i][j] += x[box[1] - j] * box[0];",
        before="int box[3] = {n, m, 0};",
    ),
    _c(
        "size_in_an_array_that_changes",
        "for (int i = 0; i < box[0]; i++) { x[i] = i; box[i % 2] = 3; }",
        before="int box[3] = {n, m, 0};",
        fallback=True,
    ),
    _c(
        "variable_step",
        "for (int i = 0; i < n; i++) for (int j = 0; j < 30; j += h) B[i][j] += 1;",
        before="int h = cnt[3];",
    ),
    _c(
        "counter_kept_by_caller",
        "for (int i = 0; i < n; i++) for (k = cnt[i]; k < 4; k++) x[i] += k;",
        before="int k = 0;",
        after="y[3] = k;",
        fallback=True,
    ),
    # -- continue
    _c(
        "continue_affine",
        "for (int i = 0; i < n; i++) { if (i % 3 == 1) continue; for (int j = 0; j < m; j++) { if (j == i) continue; A[i][j] += 1; } x[i] = i; }",
    ),
    _c(
        "continue_on_data",
        "for (int i = 0; i < n; i++) { if (x[i] < 0) { y[i] = 1; continue; } else if (i > 4) x[i] += 3; else continue; y[i] = x[i] * 2; }",
    ),
    # -- variables that loops step
    _c("stepped", "int k = 0; for (int i = 0; i < n; i++) { x[k] = i; k++; }"),
    _c(
        "stepped_in_a_subscript",
        "int k = 0; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[k++] = A[i][j];",
    ),
    _c(
        "stepped_before_the_region",
        "for (int i = 0; i < n; i++) for (int j = 1; j <= m; j++) y[k++] += j;",
        before="int k = 0;",
    ),
    _c(
        "stepped_by_three",
        "int k = 2; for (int i = 1; i <= n; i++) for (int j = m - 1; j < m + 2; j += 1) { y[k] = x[i] + j; k += 3; y[k - 1] = k; }",
    ),
    _c(
        "stepped_down",
        "long k = n - 1; for (int i = 0; i < n; i++) { x[i] += y[k--]; if (i > 3) y[k + 9] = i; }",
    ),
    _c(
        "a_pointer_walks_in_a_head",
        "for (int i = 0; i < n; i++, at++) *at += x[i];",
        before="double *at = y;",
    ),
    _c(
        "stepped_in_a_function",
        "for (int i = 0; i < n; i++) { copied_row(m, A[i], y + 9 * i); chosen_ones(m, A[i]); }",
        top="static void copied_row(int w, const double *r, double *to) { for (int j = 0; j < w; j++) *to++ = *r++; }\n"
        "static void chosen_ones(int w, double *r) { int k = 0; for (int j = 0; j < w; j++) { if (j % 3 == 1) continue; r[j] += 1; } for (int j = 0; j < w; j++) r[k++] *= 2; }",
    ),
    _c(
        "a_global_is_stepped_in_a_function",
        "for (int i = 0; i < n; i++) counted(m, A[i]);",
        top="static void counted(int w, double *r) { for (int j = 0; j < w; j++) { r[j] += 1; global_n++; } }",
    ),
    _c("stepped_down_by_unsigned", "long k = 30; for (unsigned i = 0; i < u; i++) { x[k] = i; k--; }"),
    _c(
        "stepped_by_wide_counters",
        "int k = 2; for (size_t i = 0; i < w; i++) for (size_t j = 0; j < 3; j++) y[k++] = x[i];",
        before="size_t w = n;",
    ),
    _c(
        "stepped_volatile",
        "for (int i = 0; i < n; i++) { x[i] = k; k++; }",
        before="volatile int k = 0;",
        fallback=True,
    ),
    _c("stepped_first", "int k = -1; for (int i = 0; i < n; i++) { ++k; x[k] = i; }"),
    _c("stepped_first_in_a_subscript", "int k = -1; for (int i = 0; i < n; i++) x[++k] = i;"),
    _c(
        "stepped_again",
        "int k; k = 0; for (int i = 0; i < n; i++) x[k++] = i; k = 1; for (int i = 0; i < n; i++) { double t = x[k++]; y[i] = t; }",
    ),
    _c(
        "stepped_in_rows",
        "for (int i = 0; i < n; i++) { int k = i; for (int j = 0; j < m; j++) { A[i][j] += x[k]; { k += 2; } for (int h = 0; h < 2; h++) y[k + h] = j; } }",
    ),
    _c(
        "pointers_walk_along_rows",
        "for (int i = 0; i < n; i++) { double *r = A[i]; const double *v = x + 2 * i; for (int j = 0; j < m; j++) *r++ += 2 * *v++; }",
    ),
    _c(
        "a_pointer_walks",
        "for (int i = 0; i < n; i++) { *at = i; at[1] += x[i]; at += 2; }",
        before="double *at = y;",
    ),
    _c("a_parameter_walks", "for (int i = 0; i < n; i++) *y++ = x[i];", fallback=True, after="y[0] = 1;"),
    _c(
        "pointers_to_structures_walk",
        "for (int i = 0; i < n; i++) { c->mass = x[i]; c->at[1] += 2; c++; }",
        before="struct cell *c = cells;",
    ),
    _c("a_last_value_is_read", "int k = 0; for (int i = 0; i < n; i++) { x[k] = 1; k += 2; } x[0] = k;"),
    _c(
        "a_last_value_is_read_later",
        "for (int i = 0; i < n; i++) { x[k] = 1; k += 2; }",
        before="int k = 0;",
        after="y[0] = k;",
    ),
    _c(
        "stepped_on_a_condition",
        "int k = 0; for (int i = 0; i < n; i++) if (x[i] > 0) y[k++] = x[i];",
        fallback=True,
    ),
    _c(
        "stepped_in_a_triangle",
        "int k = 0; for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) y[k++] = x[j];",
        fallback=True,
    ),
    _c("stepped_twice", "int k = 0; for (int i = 0; i < n; i++) { x[k] = 1; k++; x[k] = 2; k++; y[k] = 3; }"),
    _c("stepped_by_twos", "int k = 0; for (int i = 0; i < n; i += 2) { x[k] = 1; k++; }"),
    _c(
        "stepped_and_left",
        "for (int i = 0; i < n; i++) { int k = 0; for (int j = 0; j < m; j++) { if (x[j] < 0) break; A[i][k] = 1; k++; } }",
    ),
    _c(
        "stepped_where_the_bound_moves",
        "int k = 0; for (int i = 0; i < n; i++) { for (int j = 0; j < l; j++) { y[k] = i; k++; } l = 2; }",
    ),
    _c("stepped_bytes", "unsigned char k = 250; for (int i = 0; i < n; i++) { y[k] = i; k++; }"),
    _c(
        "stepped_between",
        "int k = 0; for (int i = 0; i < n; i++) { x[i] = k; for (int j = 0; j < m; j++) { y[k] = j; k++; } }",
    ),
    _c(
        "stepped_and_continued",
        "int k = 0; for (int i = 0; i < n; i++) { if (i % 2) continue; x[k] = i; k++; }",
    ),
    # -- switch
    _c(
        "switch_on_data",
        "for (int i = 0; i < n; i++) switch (cnt[i]) { case WIDTH - 6: x[i] = 1; break; default: x[i] -= 2; break; case 2: case 0: { double t = y[i]; x[i] = t * t; break; } case 'a': y[i] = 3; break; case -1: ; }",
    ),
    _c(
        "switch_on_counters",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) switch ((i + j) % 3) { case 0: A[i][j] = 1; break; case 1: if (i > 2) A[i][j] = 2; break; default: ; }",
    ),
    _c(
        "switch_on_a_size",
        "switch (n) { case 3: case 7: x[0] = 1; break; case 8: x[1] = 2; } for (int i = 0; i < n; i++) x[i] += i;",
    ),
    _c(
        "switch_on_unsigned",
        "for (int i = 0; i < n; i++) { switch (u + 3 * i) { case 3: x[i] = 1; break; case 12u: x[i] = 2; break; default: x[i] = 3; } switch ((unsigned char)(250 + i)) { case 255: y[i] = 1; break; case 0: y[i] = 2; } }",
    ),
    _c(
        "switch_in_switch",
        "for (int i = 0; i < n; i++) switch (i % 2) { case 0: switch (cnt[i] > 1) { case 1: x[i] = 4; break; default: x[i] = 5; } y[i] = x[i]; break; case 1: for (int j = 0; j < 9; j++) { if (j > cnt[i]) break; x[i] += j; } }",
    ),
    _c(
        "switch_that_continues",
        "for (int i = 0; i < n; i++) { switch (i % 3) { case 0: x[i] = 1; continue; default: y[i] = 1; } x[i] = 2; }",
    ),
    _c(
        "switch_with_one_case",
        "for (int i = 0; i < n; i++) { switch (i) { default: x[i] = 1; } switch (i) { case 4: x[i] = 2; } switch (i) { } }",
    ),
    _c(
        "switch_in_a_while",
        "for (int i = 0; i < n; i++) { int k = cnt[i]; while (k > 0) { switch (k % 4) { case 0: x[i] += 1; break; case 1: k--; break; default: x[i] *= 2; } k--; } }",
    ),
    _c(
        "switch_in_a_function",
        "for (int i = 0; i < n; i++) { kinds(&x[i], cnt[i]); y[i] = chosen(i, x[i]); }",
        top="static void kinds(double *v, int k) { switch (k) { case 0: *v = 1; break; case 1: *v += 2; break; default: *v = 0; } }\n"
        "static double chosen(int k, double v) { switch (k) { case 0: return v; case 1: v += 1; default: return 2 * v; } }",
    ),
    _c(
        "switch_entered_in_the_middle",
        "for (int i = 0; i < n; i++) switch (cnt[i]) { case 0: { x[i] = 1; case 1: y[i] = 2; } break; case 2: for (int j = 0; j < 2; j++) { x[i] += 1; case 3: y[i] += 1; } }",
        fallback=True,
    ),
    _c(
        "switch_falls_through",
        "for (int i = 0; i < n; i++) switch (cnt[i]) { case 0: x[i] = 1; case 1: y[i] = 2; }",
        fallback=True,
    ),
    _c(
        "switch_left_in_the_middle",
        "for (int i = 0; i < n; i++) switch (cnt[i]) { case 0: if (x[i] > 0) break; x[i] = 1; break; case 1: y[i] = 2; }",
        fallback=True,
    ),
    _c(
        "switch_with_a_shared_variable",
        "for (int i = 0; i < n; i++) switch (cnt[i]) { case 0: ; double t; t = 1; x[i] = t; break; case 1: t = 2; y[i] = t; }",
        fallback=True,
    ),
    _c(
        "switch_with_effects",
        "for (int i = 0; i < n; i++) switch (cnt[i]++) { case 0: x[i] = 1; break; case 1: x[i] = 2; }",
        fallback=True,
    ),
    _c(
        "switch_on_wide_labels",
        "for (int i = 0; i < n; i++) switch (i) { case 0x100000001: x[i] = 1; break; default: y[i] = 2; }",
        fallback=True,
    ),
    _c(
        "continue_after_others_in_a_chain",
        "for (int i = 0; i < n; i++) { if (cnt[i] == 0) x[i] = 1; else if (cnt[i] == 1) { x[i] = 2; cnt[i] = 5; } else { x[i] = 3; cnt[i] = 0; continue; } y[i] = x[i]; }",
    ),
    _c(
        "continue_in_branches_of_branches",
        "for (int i = 0; i < n; i++) { if (x[i] > 0) { if (cnt[i] > 2) { y[i] = 1; x[i] = -1; continue; } else y[i] = 2; } else if (i % 2) continue; for (int j = 0; j < m; j++) A[i][j] = x[i]; if (y[i] > 1) continue; x[i] = 7; }",
    ),
    # -- calls inside expressions
    _c(
        "called_in_expressions",
        "for (int i = 1; i < n; i++) y[i] = at(x, i - 1) + (i > 3 ? at(x, i - 3) : 0) - total(3, A[i]) * 2;",
        top="static double at(const double *v, int i) { return v[i]; }\n"
        "static double total(int k, const double *v) { double t = 0; for (int i = 0; i < k; i++) t += v[i]; return t; }",
    ),
    _c(
        "called_for_its_effect_in_expression",
        "for (int i = 0; i < n; i++) y[i] = 1 + take(x, i);",
        top="static double take(double *v, int i) { double t = v[i]; v[i] = 0; return t; }",
        fallback=True,
    ),
    _c(
        "called_in_expressions_with_commas",
        "double t = 2; for (int i = 1; i < n; i++) y[i] = (t = x[i], at_once(x, i)) + (x[i] > 0 ? at_once(x, i - 1) : t);",
        top="static double at_once(const double *v, int i) { return v[i]; }",
    ),
    _c(
        "called_behind_a_comma",
        "double t = 2; for (int i = 0; i < n; i++) y[i] = (t = x[i], weighted(3, A[i], t));",
        top="static double weighted(int k, const double *v, double t) { double r = 0; for (int i = 0; i < k; i++) r += v[i] * t; return r; }",
        fallback=True,
    ),
    # -- functions with effects
    _c(
        "expanded_rows",
        "scale_rows(n, m + 5, A, x); for (int i = 0; i < n; i++) y[i] = row_sum(m, A[i]); ",
        top="static void add(int k, double *r, double v) { for (int j = 0; j < k; j++) r[j] += v; }\n"
        "static void scale_rows(int n, int w, double A[n][w], double *v) {\n"
        "  for (int i = 0; i < n; i++) { add(w, A[i], v[i] * 2); v[i] -= 1; } }\n"
        "static double row_sum(int m, const double *r) { double t = 0; for (int i = 0; i < m; i++) t += r[i]; return t; }",
    ),
    _c(
        "expanded_element",
        "for (int i = 0; i < n; i++) { bump(&x[i], i); bump(x + i, 2); bump(&s->w[i], 1); double t = twice(&y[i]); x[i] += t; }",
        top="static void bump(double *p, int k) { *p += k; p[0] *= 2; k = 7; *p -= k; }\n"
        "static double twice(const double *p) { return *p * 2; }",
    ),
    _c(
        "expanded_structure",
        "reset(s, n); state_t t; t.n = 3; for (int i = 0; i < n; i++) y[i] = i; fill_state(&t, n, y);",
        before="state_t other;",
        top="static void reset(state_t *v, int k) { for (int i = 0; i < k; i++) v->w[i] = v->scale; v->hits++; }\n"
        "static void fill_state(state_t *v, int k, double *to) { v->scale = 2; for (int i = 0; i < k; i++) to[i] += v->scale; }",
    ),
    _c(
        "expanded_members",
        "reset_w(s, n); for (int i = 0; i < n; i++) y[i] = s->w[i];",
        top="static void reset_w(state_t *v, int k) { for (int i = 0; i < k; i++) v->w[i] = v->scale; v->hits++; }",
    ),
    _c(
        "expanded_argument_read_first",
        "for (int i = 0; i < n; i++) put(x, i, x[i], i + 1);",
        top="static void put(double *v, int i, double first, int k) { v[i] = 0; v[i + 1] = first + k; }",
    ),
    _c(
        "other_shape",
        "flat(B);",
        top="static void flat(double v[][30]) { for (int i = 0; i < 4; i++) v[i][3] = 1; }",
        fallback=True,
    ),
    # -- remainders by sizes, and steps of variables
    _c(
        "wrapped",
        "for (int j = 0; j < n; j++) x[j] = y[(j + 1) % n] - 3 * y[(j + n - 1) % n] + y[(j - 1) % n + 1];",
    ),
    _c("wrapped_quotient", "for (int j = 0; j < n; j++) x[j] += (j + 3) / n + 10 * ((j - 1) / n);"),
    _c("wrapped_twice", "for (int j = 0; j < 3 * n; j++) x[j % n] += y[j] * (j / n);"),
    _c(
        "wrapped_unsigned",
        "for (unsigned j = 0; j < u; j++) x[j] = y[(j + 1) % u] + y[(j + u - 2) % u];",
        least=2,
    ),
    _c(
        "wrapped_rows",
        """for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { int up = (i + 1) % n, left = j == 0 ? m - 1 : j - 1;
      A[i][j] = y[up * m + j] + y[i * m + left]; }""",
    ),
    _c(
        "wrapped_by_steps",
        """for (int i = 0; i < n; i++) { int k = i + 2, l = i; if (k >= n) k -= n; l--; if (l < 0) l += n;
      x[i] = y[k] * 2 + y[l]; }""",
        least=2,
    ),
    _c(
        "steps", "for (int i = 0; i < n; i++) { int k = i; k *= 2; k += 3; --k; x[i] = y[k]; k++; y[i] = k; }"
    ),
    _c("step_of_data", "for (int i = 0; i < n; i++) { int k = i; k += idx[i]; x[i] = y[k]; }"),
    _c("remainder_by_anything", "for (int i = 0; i < n; i++) x[i] = y[(i * 7) % n];"),
    # -- several things
    _c(
        "assumed",
        "__pencil_assume(n >= 1); (void)0; for (int i = 0; i < n; i++) x[0] += y[i];",
        top="static void __pencil_assume(int holds) { (void)holds; }",
    ),
    _c(
        "shadowing",
        "double t = 1; for (int i = 0; i < n; i++) { double t = x[i]; { double t = 4; y[i] = t; } x[i] = t * 2; } x[0] += t;",
    ),
    _c(
        "nested_pragmas",
        "\n#pragma omp parallel for\nfor (int i = 0; i < n; i++) {\n#pragma GCC unroll 2\nfor (int j = 0; j < m; j++) A[i][j] = 0;\n}\n",
    ),
    _c(
        "jacobi",
        """for (int t = 0; t < 4; t++) { for (int i = 1; i < n - 1; i++) x[i] = 0.33 * (y[i - 1] + y[i] + y[i + 1]);
      for (int i = 1; i < n - 1; i++) y[i] = x[i]; }""",
    ),
    _c(
        "lower_solve",
        """for (int i = 0; i < n; i++) { x[i] = y[i]; for (int j = 0; j < i; j++) x[i] -= B[i][j] * x[j];
      x[i] = x[i] / (B[i][i] + 100); }""",
    ),
    _c(
        "seidel",
        "for (int t = 0; t < 3; t++) for (int i = 1; i < n; i++) for (int j = 1; j < m; j++) A[i][j] = (A[i - 1][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j]) / 4;",
    ),
    _c("do_nothing", "", fallback=True),
]
