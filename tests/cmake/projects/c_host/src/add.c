#include "kernels.h"

void add(int n, const element *x, const element *y, element *z)
{
#pragma scop
    for (int i = 0; i < n; i++)
        z[i] = x[i] + y[i];
#pragma endscop
}
