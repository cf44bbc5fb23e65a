/* Explicit heat equation on a cube with a fixed rim; every step sweeps twice, A to B and back. */

void heat_3d(int steps, int n, double A[restrict n][n][n], double B[restrict n][n][n])
{
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                for (int k = 1; k < n - 1; k++)
                    B[i][j][k] = A[i][j][k]
                                 + 0.125 * (A[i - 1][j][k] - 2.0 * A[i][j][k] + A[i + 1][j][k])
                                 + 0.125 * (A[i][j - 1][k] - 2.0 * A[i][j][k] + A[i][j + 1][k])
                                 + 0.125 * (A[i][j][k - 1] - 2.0 * A[i][j][k] + A[i][j][k + 1]);
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                for (int k = 1; k < n - 1; k++)
                    A[i][j][k] = B[i][j][k]
                                 + 0.125 * (B[i - 1][j][k] - 2.0 * B[i][j][k] + B[i + 1][j][k])
                                 + 0.125 * (B[i][j - 1][k] - 2.0 * B[i][j][k] + B[i][j + 1][k])
                                 + 0.125 * (B[i][j][k - 1] - 2.0 * B[i][j][k] + B[i][j][k + 1]);
    }
#pragma endscop
}
