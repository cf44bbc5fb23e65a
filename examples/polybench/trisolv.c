/* Forward substitution:  L x = b. */

void trisolv(int n, double L[restrict n][n], double x[restrict n], double b[restrict n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        x[i] = b[i];
        for (int j = 0; j < i; j++)
            x[i] -= L[i][j] * x[j];
        x[i] /= L[i][i];
    }
#pragma endscop
}
