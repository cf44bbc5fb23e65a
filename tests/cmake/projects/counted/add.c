void add(int n, const double *x, const double *y, double *z);

void add(int n, const double *x, const double *y, double *z)
{
#pragma scop
    for (int i = 0; i < n; i++)
        z[i] = x[i] + y[i];
#pragma endscop
}
