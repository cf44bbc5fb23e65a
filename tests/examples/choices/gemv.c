/* BLAS 2: y := A x + y. */
double A[M][N] __attribute__((aligned(128)));
double x[N] __attribute__((aligned(128))), y[M] __attribute__((aligned(128)));

void gemv(void)
{
#pragma scop
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            y[i] += A[i][j] * x[j];
#pragma endscop
}
