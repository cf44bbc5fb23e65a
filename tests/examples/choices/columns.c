/* Reduction: the sums of the columns of a matrix. */
double A[M][N] __attribute__((aligned(128))), s[N] __attribute__((aligned(128)));

void columns(void)
{
#pragma scop
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            s[j] += A[i][j];
#pragma endscop
}
