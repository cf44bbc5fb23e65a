/* BLAS 1: y := 2 x + b. */
double x[N] __attribute__((aligned(128))), y[N] __attribute__((aligned(128)));
double b = 0.5;

void line(void)
{
#pragma scop
    for (int i = 0; i < N; i++)
        y[i] = 2.0 * x[i] + b;
#pragma endscop
}
