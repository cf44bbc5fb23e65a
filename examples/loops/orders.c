/* Loops whose order the manifest changes, step by step. */

/* Gauss-Seidel: no loop is parallel as written.  Skewed and interchanged, the points of a front are. */
void sweep(int n, double u[n][n])
{
#pragma scop
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            u[i][j] = 0.25 * (u[i - 1][j] + u[i][j - 1] + u[i][j + 1] + u[i + 1][j]);
#pragma endscop
}

/* A product whose loops come in the order of the formula, with the long strides innermost. */
void product(int m, int n, int l, double c[restrict m][n], double a[restrict m][l], double b[restrict l][n])
{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < l; k++)
                c[i][j] += a[i][k] * b[k][j];
#pragma endscop
}

/* A recurrence and a part that only reads it: apart from each other, the second one runs on the CPEs. */
void detrend(int n, double raw[restrict n], double trend[restrict n], double rest[restrict n])
{
#pragma scop
    for (int i = 1; i < n; i++) {
        trend[i] = 0.9 * trend[i - 1] + 0.1 * raw[i];
        rest[i] = (raw[i] - trend[i]) * (raw[i] - trend[i]);
    }
#pragma endscop
}
