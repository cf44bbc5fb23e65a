/* Three kernels for a machine that does not exist. */

void product(int ni, int nj, int nk, double alpha, double C[ni][nj], double A[ni][nk], double B[nk][nj])
{
#pragma scop
    for (int i = 0; i < ni; i++)
        for (int j = 0; j < nj; j++) {
            C[i][j] *= alpha;
            for (int k = 0; k < nk; k++)
                C[i][j] += A[i][k] * B[k][j];
        }
#pragma endscop
}

void stencil(int steps, int n, int m, float A[n][m], float B[n][m])
{
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < m - 1; j++)
                B[i][j] = 0.25f * (A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1]);
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < m - 1; j++)
                A[i][j] = B[i][j];
    }
#pragma endscop
}

void columns(int n, int m, long sum[m], int A[n][m], long *total)
{
#pragma scop
    for (int j = 0; j < m; j++) {
        sum[j] = 0;
        for (int i = 0; i < n; i++)
            sum[j] += A[i][j];
    }
    for (int j = 0; j < m; j++)
        *total += sum[j];
#pragma endscop
}
