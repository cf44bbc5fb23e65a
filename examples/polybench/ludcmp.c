/* A x = b by LU factorisation, with sums held in a variable, and two substitutions: L y = b and U x = y. */

void ludcmp(int n, double A[restrict n][n], double b[restrict n], double x[restrict n], double y[restrict n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            double w = A[i][j];
            for (int k = 0; k < j; k++)
                w -= A[i][k] * A[k][j];
            A[i][j] = w / A[j][j];
        }
        for (int j = i; j < n; j++) {
            double w = A[i][j];
            for (int k = 0; k < i; k++)
                w -= A[i][k] * A[k][j];
            A[i][j] = w;
        }
    }
    for (int i = 0; i < n; i++) {
        double w = b[i];
        for (int j = 0; j < i; j++)
            w -= A[i][j] * y[j];
        y[i] = w;
    }
    for (int i = n - 1; i >= 0; i--) {
        double w = y[i];
        for (int j = i + 1; j < n; j++)
            w -= A[i][j] * x[j];
        x[i] = w / A[i][i];
    }
#pragma endscop
}
