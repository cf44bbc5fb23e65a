/* Stencil: nine points of a plane, single precision. */
float A[M][N] __attribute__((aligned(128)));
float B[M][N] __attribute__((aligned(128)));

void box2d(void)
{
#pragma scop
    for (int i = 1; i < M - 1; i++)
        for (int j = 1; j < N - 1; j++)
            B[i][j] = 0.1f * (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1])
                    + 0.2f * (A[i][j - 1] + A[i][j] + A[i][j + 1])
                    + 0.3f * (A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]);
#pragma endscop
}
