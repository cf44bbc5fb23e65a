/* Triangular: C := L B + C with L lower triangular. */
double L[M][M] __attribute__((aligned(128)));
double B[M][N] __attribute__((aligned(128)));
double C[M][N] __attribute__((aligned(128)));

void trmm(void)
{
#pragma scop
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k <= i; k++)
                C[i][j] += L[i][k] * B[k][j];
#pragma endscop
}
