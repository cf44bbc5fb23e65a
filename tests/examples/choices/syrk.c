/* BLAS 3: the lower triangle of C := A A' + C. */
double A[N][K] __attribute__((aligned(128)));
double C[N][N] __attribute__((aligned(128)));

void syrk(void)
{
#pragma scop
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++)
            for (int k = 0; k < K; k++)
                C[i][j] += A[i][k] * A[j][k];
#pragma endscop
}
