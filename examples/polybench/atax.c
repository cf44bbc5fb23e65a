/* A matrix and its transpose applied to a vector:  y := A' (A x). */

void atax(int m, int n, double A[restrict m][n], double x[restrict n], double y[restrict n],
          double ax[restrict m])
{
#pragma scop
    for (int j = 0; j < n; j++)
        y[j] = 0.0;

    for (int i = 0; i < m; i++) {
        ax[i] = 0.0;
        for (int j = 0; j < n; j++)
            ax[i] += A[i][j] * x[j];
        for (int j = 0; j < n; j++)
            y[j] += A[i][j] * ax[i];
    }
#pragma endscop
}
