/* Sparse matrices: the rows' lengths are data. */
void spmv(int n, int rp[n+1], int nnz, int col[nnz], double val[nnz], double x[n], double y[n]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    double s = 0.0;
    for (int k = rp[i]; k < rp[i+1]; k++) s += val[k] * x[col[k]];
    y[i] = s;
  }
#pragma endscop
}

void ell(int n, int len[n], int col[n][8], double v[n][8], double x[n], double y[n]) {
  int i, k;
#pragma scop
  for (i = 0; i < n; i++) y[i] = 0;
  for (i = 0; i < n; i++)
    for (k = 0; k < len[i]; k++) { if (k >= 8) break; y[i] += v[i][k] * x[col[i][k]]; }
#pragma endscop
}

void inner_nest(int n, int rp[n+1], double b[n][3][3], double x[n][3], double y[n][3], int col[n]) {
  int i, j, k, l;
#pragma scop
  for (i = 0; i < n; i++) for (j = 0; j < 3; j++) y[i][j] = 0;
  for (i = 0; i < n; i++)
    for (k = rp[i]; k < rp[i+1]; k++)
      for (j = 0; j < 3; j++)
        for (l = 0; l < 3; l++)
          y[i][j] += b[k][j][l] * x[col[k]][l];
#pragma endscop
}
