/* Functions that read through pointers, called inside expressions. */
static double at(const double *a, int i) { return a[i]; }
static inline double dot3(const double a[3], const double b[3]) { double s = 0; for (int k = 0; k < 3; k++) s += a[k]*b[k]; return s; }
static inline double lap(int n, int m, double u[n][m], int i, int j) { return u[i-1][j] + u[i+1][j] + u[i][j-1] + u[i][j+1] - 4*u[i][j]; }
void f1(int n, double *restrict a, double *restrict b) {
#pragma scop
  for (int i = 1; i < n - 1; i++) b[i] = at(a, i-1) + at(a, i+1);
#pragma endscop
}
void f2(int n, double a[n][3], double b[n][3], double *restrict o) {
#pragma scop
  for (int i = 0; i < n; i++) o[i] = 1 + dot3(a[i], b[i]);
#pragma endscop
}
void f3(int n, int m, double u[n][m], double v[n][m]) {
#pragma scop
  for (int i = 1; i < n-1; i++) for (int j = 1; j < m-1; j++) v[i][j] = u[i][j] + 0.1 * lap(n, m, u, i, j);
#pragma endscop
}
static double scale = 2;
static double twice_named(double v) { double r = v * scale; { double scale = 3; r += scale; } return r; }
void inner_names(int n, double *restrict a, double *restrict b) {
#pragma scop
  for (int i = 0; i < n; i++) b[i] = twice_named(a[i]);
#pragma endscop
}
