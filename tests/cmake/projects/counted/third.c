void negate(int n, double *x);

void negate(int n, double *x)
{
#pragma scop
    for (int i = 0; i < n; i++)
        x[i] = -x[i];
#pragma endscop
}
