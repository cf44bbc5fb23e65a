/* BLAS 3: C := A B + C. */
double A[M][K] __attribute__((aligned(128)));
double B[K][N] __attribute__((aligned(128)));
double C[M][N] __attribute__((aligned(128)));

void gemm(void)
{
#pragma scop
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < K; k++)
                C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
