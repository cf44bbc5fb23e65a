# ruff: noqa: E501 (C text is easier to read in one line)
"""C files of regions that have one signature, and a main that runs them all and shows what they leave.

All kernels have one signature (see ``SIGNATURE``); a case gives the text of the region, and text
before and after it in the function where needed.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Case", "case", "program"]


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


def case(name: str, region: str, **more: object) -> Case:
    """Return the case of ``region``."""
    return Case(name, region, **more)  # type: ignore[arg-type]
