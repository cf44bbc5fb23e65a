/* Arrays that some sizes switch off, told apart at run time: nothing of them overlaps then. */
void f(int n, int p, double *a, double *b, double *c) {
#pragma scop
  for (int i = 0; i < n; i++) { if (p == 0) a[i] = b[i]; else a[i] = c[i]; }
#pragma endscop
}
void g(int n, int m, int late, float *u, float *v) {
#pragma scop
  for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) u[i * m + j] = 2.0f * i;
  if (late > 4) for (int i = 0; i < n; i++) u[i * m] += v[i];
#pragma endscop
}
struct s { int on; int *k, *l; };
void h(struct s *s, int n) {
#pragma scop
  for (int i = 0; i < n; i++) s->k[i] = i;
  if (s->on) for (int i = 0; i < n; i++) s->l[i] = s->k[i] + 1;
#pragma endscop
}
void narrowed(int n, int m, double *a, double *b) {
#pragma scop
  for (int i = 0; i < n; i++) for (int j = 0; j < m - 2; j++) a[i*(m-2)+j] = b[i*m+j] + b[i*m+j+2];
#pragma endscop
}
void conv(int n, int m, int k, float *restrict o, const float *restrict in, const float *restrict w) {
#pragma scop
  for (int i = 0; i < n - k + 1; i++) for (int j = 0; j < m - k + 1; j++) { float s = 0;
    for (int x = 0; x < k; x++) for (int y = 0; y < k; y++) s += in[(i+x)*m + j+y] * w[x*k+y];
    o[i*(m-k+1)+j] = s; }
#pragma endscop
}
/* Where ny is 2 nothing is done, and the tests, which go by the rows, may decline it. */
void field(int nx, int ny, int nz, double *e, double *c, double *h) {
#pragma scop
  for (int i = 0; i < nx - 1; i++) for (int j = 1; j < ny - 1; j++) for (int k = 1; k < nz - 1; k++)
    e[(i*ny + j)*nz + k] = c[(i*ny + j)*nz + k] * e[(i*ny + j)*nz + k] + h[(i*(ny-1) + j)*nz + k] - h[(i*(ny-1) + j-1)*nz + k];
#pragma endscop
}
