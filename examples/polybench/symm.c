/* Symmetric matrix product:  C := alpha A B + beta C.
   Only the lower triangle of A is stored: each row of it serves as a row and as a column. */

void symm(int m, int n, double alpha, double beta,
          double C[restrict m][n], double A[restrict m][m], double B[restrict m][n])
{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double above = 0.0;
            for (int k = 0; k < i; k++) {
                C[k][j] += alpha * A[i][k] * B[i][j];
                above += A[i][k] * B[k][j];
            }
            C[i][j] = beta * C[i][j] + alpha * A[i][i] * B[i][j] + alpha * above;
        }
#pragma endscop
}
