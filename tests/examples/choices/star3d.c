/* Stencil: seven points of a cube. */
double A[P][M][N] __attribute__((aligned(128)));
double B[P][M][N] __attribute__((aligned(128)));

void star3d(void)
{
#pragma scop
    for (int i = 1; i < P - 1; i++)
        for (int j = 1; j < M - 1; j++)
            for (int k = 1; k < N - 1; k++)
                B[i][j][k] = 0.1 * A[i][j][k] + 0.2 * (A[i - 1][j][k] + A[i + 1][j][k])
                           + 0.3 * (A[i][j - 1][k] + A[i][j + 1][k])
                           + 0.4 * (A[i][j][k - 1] + A[i][j][k + 1]);
#pragma endscop
}
