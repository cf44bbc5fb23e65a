#include "scale.h"

void add(int n, const double *x, const double *y, double *z);

int main(void)
{
    double x[2] = {1, 2}, y[2], z[2];
    scale(2, 2.0, x, y);
    add(2, x, y, z);
    return z[1] != 6;
}
