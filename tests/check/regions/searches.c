/* Loops that data end, and iterations that are cut short. */
#include <math.h>

void cont(int n, int m, double A[n][m]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    if (i % 3 == 1) continue;
    for (int j = 0; j < m; j++) {
      if (j == i) continue;
      if (A[i][j] < 0.5) { A[i][j] = 1.0; continue; }
      else if (j > 4) { A[i][j] += 3; } else continue;
      A[i][j] *= 0.5;
    }
  }
#pragma endscop
}

void brk(int n, int m, double A[n][m], int first[n]) {
  int i, j;
#pragma scop
  for (i = 0; i < n; i++) {
    int at = -1;
    for (j = 0; j < m; j++)
      if (A[i][j] > 0.9) { at = j; break; }
    first[i] = at;
  }
#pragma endscop
}

void newton(int n, double x[n]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    double r = x[i];
    int it = 0;
    while (fabs(r * r - x[i]) > 1e-9 && it < 50) {
      r = 0.5 * (r + x[i] / r);
      it++;
    }
    x[i] = r;
  }
#pragma endscop
}

void dow(int n, int a[n]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    int v = a[i] < 0 ? -a[i] : a[i], c = 0;
    do { c += v & 1; v >>= 1; } while (v);
    a[i] = c;
  }
#pragma endscop
}

void mandel(int n, int m, int out[n][m]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      double cx = -2.0 + 3.0 * j / m, cy = -1.0 + 2.0 * i / n, x = 0, y = 0;
      int it;
      for (it = 0; it < 100 && x * x + y * y < 4.0; it++) {
        double t = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = t;
      }
      out[i][j] = it;
    }
#pragma endscop
}
