#include "kernels.h"

void scale(int n, element a, const element *x, element *y)
{
#pragma scop
    for (int i = 0; i < n; i++)
        y[i] = a * x[i];
#pragma endscop
}
