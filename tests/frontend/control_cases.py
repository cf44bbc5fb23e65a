# ruff: noqa: E501 (C text is easier to read in one line)
"""Regions with loops that depend on data, switches, calls, and variables that loops step."""

from __future__ import annotations

from region_program import Case
from region_program import case as _c

__all__ = ["CONTROL"]

CONTROL: list[Case] = [
    # -- unsigned counters that go down to 0
    _c(
        "down_to_zero",
        "for (unsigned i = n - 1; i != (unsigned)-1; i--) y[i] += x[i]; for (unsigned long i = n - 1; i < n; i--) x[i] = y[i + 1] + i; for (unsigned i = 5; -1 != i; --i) y[i] -= 1;",
    ),
    _c(
        "down_from_below_an_end",
        "for (unsigned long i = 2 * n; i < m; i--) y[i] += x[i + 1]; for (unsigned i = 7; m > i; i -= 1) x[i] = y[i + 1] + i;",
    ),
    # -- bounds of type double
    _c(
        "whole_bounds",
        "for (int i = 0; i < 1e1; i++) y[i] += x[i]; for (int i = 9; i >= 2.5; i--) x[i] = i; for (int i = 0; 12.0 - 1 > i; ++i) if (i <= 3.7 && 0.5 < i) y[i] = 2;",
    ),
    _c(
        "bounds_between_integers",
        "for (unsigned i = 1; i <= 6.999; i++) for (long j = (int)2.9e0; j < (long)(1e1 / 4) + n; j++) A[i][j] += i > 2 * 1.5 ? 1 : x[j];",
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
    _c(
        "do_once",
        "do { for (int i = 0; i < n; i++) x[i] = i; } while (0); for (int i = 0; i < n; i++) { if (i > 2) ADD(x[i], 2); else ADD(y[i], x[i]); switch (cnt[i]) { case 0: ADD(x[i], 1); break; default: ADD(y[i], 3); } }",
        top="#define ADD(v, k) do { int n = k; v += n; } while (0)",
    ),
    _c(
        "do_once_left_early",
        "for (int i = 0; i < n; i++) { do { if (cnt[i] > 1) break; x[i] += 1; } while (0); do { if (cnt[i] > 0) continue; y[i] += 1; } while (0); do { for (int j = 0; j < 9; j++) { if (j == cnt[i]) break; y[i] += j; } } while (0); }",
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
