/* Triangular: y := L x + y with L lower triangular. */
double L[N][N] __attribute__((aligned(128)));
double x[N] __attribute__((aligned(128))), y[N] __attribute__((aligned(128)));

void trmv(void)
{
#pragma scop
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++)
            y[i] += L[i][j] * x[j];
#pragma endscop
}
