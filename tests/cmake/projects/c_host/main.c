#include <stdio.h>

#include "include/kernels.h"

enum { N = 1000 };

static element x[N], y[N], z[N];

int main(void)
{
    for (int i = 0; i < N; i++)
        x[i] = i;
    scale(N, 2, x, y);
    add(N, x, y, z);
    for (int i = 0; i < N; i++)
        if (z[i] != 3.0 * i)
            return printf("z[%d] is %g\n", i, z[i]), 1;
    puts("sum correct");
    return 0;
}
