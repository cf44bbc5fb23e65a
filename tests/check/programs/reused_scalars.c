#include <stdio.h>
void l1(int n, double *restrict a, double *restrict b, double *restrict c) {
  double t;
#pragma scop
  for (int i = 0; i < n; i++) { t = a[i] * 2; b[i] = t + 1; t = a[i] * 3; c[i] = t + b[i]; t = b[i] - c[i]; a[i] = t; }
#pragma endscop
}
void l2(int n, int m, double (*restrict a)[64], double (*restrict b)[64], double *restrict c) {
#pragma scop
  for (int i = 0; i < n; i++) {
    double t = c[i];
    for (int j = 0; j < m; j++) { b[i][j] = a[i][j] * t; }
    t = c[i] + 1;
    for (int j = 0; j < m; j++) { a[i][j] = b[i][j] + t; }
    for (int j = 0; j < m; j++) { t = a[i][j]; b[i][j] += t * t; }
  }
#pragma endscop
}
void l3(int n, double *restrict a, double *restrict b, double *restrict x) {
  double t = 0, u;
#pragma scop
  for (int i = 0; i < n; i++) {
    if (i == 0) t = x[0];
    b[i] = t + a[i];
  }
  for (int i = 0; i < n; i++) { t = a[i]; x[i] = t * 2; t = x[i] + 1; a[i] = t; }
  for (int i = 0; i < n; i++) { if (i % 3 == 0) { u = a[i]; b[i] += u; } if (i % 3 == 1) { u = x[i]; b[i] -= u; } u = b[i]; x[i] += u; }
#pragma endscop
}
void l4(int n, int m, double (*restrict a)[64], double (*restrict b)[64], double *restrict c) {
  double s, w[3];
#pragma scop
  for (int i = 0; i < n; i++) {
    s = 0;
    for (int j = 0; j < m; j++) s += a[i][j];
    c[i] = s;
    s = 1;
    for (int j = 0; j < m; j++) s = s * 0.5 + b[i][j];
    c[i] += s;
    w[0] = s; w[1] = c[i]; 
    for (int j = 0; j < m; j++) { b[i][j] += w[0] - w[1]; }
    w[0] = c[i]; w[2] = 3;
    for (int j = 0; j < m; j++) { a[i][j] += w[0] * w[2]; }
  }
#pragma endscop
}
double A[64][64], B[64][64], C[64], D[64], E[64];
static void show(void) { for (int i = 0; i < 64; i++) { double s = 0; for (int j = 0; j < 64; j++) s = s * 0.9 + A[i][j] + 2 * B[i][j]; printf("%.17g %.17g %.17g %.17g\n", s, C[i], D[i], E[i]); } }
int main(void) {
  for (int i = 0; i < 64; i++) { C[i] = i * 0.3; D[i] = 7 - i; E[i] = i % 5; for (int j = 0; j < 64; j++) A[i][j] = i + j * 0.1, B[i][j] = i - j; }
  l1(61, C, D, E); show();
  l2(61, 50, A, B, C); show();
  l3(61, C, D, E); show();
  l4(61, 50, A, B, C); show();
  return 0;
}
