/* Reduction: the scalar product of two vectors, taken in parts. */
double x[N] __attribute__((aligned(128))), y[N] __attribute__((aligned(128)));
double sum;

void dot(void)
{
#pragma scop
    for (int i = 0; i < N; i++)
        sum += x[i] * y[i];
#pragma endscop
}
