/* Symmetric rank-2k update of the lower triangle:  C := alpha (A B' + B A') + beta C. */

void syr2k(int n, int m, double alpha, double beta,
           double C[restrict n][n], double A[restrict n][m], double B[restrict n][m])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++)
            C[i][j] *= beta;
        for (int k = 0; k < m; k++)
            for (int j = 0; j <= i; j++)
                C[i][j] += alpha * A[i][k] * B[j][k] + alpha * B[i][k] * A[j][k];
    }
#pragma endscop
}
