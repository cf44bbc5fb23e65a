#include <stdio.h>

#include "scale.h"

void shift(int n, double a, double *x);

int main(void)
{
    double x[3] = {1, 2, 3}, y[3];
    scale(3, 2, x, y);
    shift(3, 1, y);
    printf("%g %g %g\n", y[0], y[1], y[2]);
    return 0;
}
