/* Stencil: five points of a plane. */
double A[M][N] __attribute__((aligned(128)));
double B[M][N] __attribute__((aligned(128)));

void star2d(void)
{
#pragma scop
    for (int i = 1; i < M - 1; i++)
        for (int j = 1; j < N - 1; j++)
            B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j]);
#pragma endscop
}
