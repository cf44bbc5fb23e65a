/* Product with a transposed triangular matrix, in place:  B := alpha A' B.
   A is unit lower triangular; its diagonal is not stored. */

void trmm(int m, int n, double alpha, double A[restrict m][m], double B[restrict m][n])
{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            for (int k = i + 1; k < m; k++)
                B[i][j] += A[k][i] * B[k][j];
            B[i][j] *= alpha;
        }
#pragma endscop
}
