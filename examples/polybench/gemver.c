/* Two rank-one updates, then two matrix-vector products:
   A := A + u1 v1' + u2 v2',   x := x + beta A' y + z,   w := w + alpha A x. */

void gemver(int n, double alpha, double beta, double A[restrict n][n],
            double u1[restrict n], double v1[restrict n], double u2[restrict n], double v2[restrict n],
            double w[restrict n], double x[restrict n], double y[restrict n], double z[restrict n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            A[i][j] += u1[i] * v1[j] + u2[i] * v2[j];

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x[i] += beta * A[j][i] * y[j];

    for (int i = 0; i < n; i++)
        x[i] += z[i];

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            w[i] += alpha * A[i][j] * x[j];
#pragma endscop
}
