/* BLAS 2: A := A + u v'. */
double A[M][N] __attribute__((aligned(128)));
double u[M] __attribute__((aligned(128))), v[N] __attribute__((aligned(128)));

void ger(void)
{
#pragma scop
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            A[i][j] += u[i] * v[j];
#pragma endscop
}
