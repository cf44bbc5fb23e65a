void shift(int n, double a, double *x);

void shift(int n, double a, double *x)
{
#pragma scop
    for (int i = 0; i < n; i++)
        x[i] += a;
#pragma endscop
}
