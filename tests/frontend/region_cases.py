# ruff: noqa: E501 (C text is easier to read in one line)
"""Regions of many shapes; each runs as itself and replayed from its model, and must compute the same."""

from __future__ import annotations

from array_cases import ARRAYS
from control_cases import CONTROL
from region_program import Case
from region_program import case as _c

__all__ = ["CASES"]

#: loops, conditions, scalars, types
PLAIN: list[Case] = [
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
]
CASES = [*PLAIN, *ARRAYS, *CONTROL]
