#include <stdio.h>

#include "scale.h"

int main(void)
{
    double x[2] = {1, 2}, y[2];
    scale(2, 4, x, y);
    printf("%g\n", y[1]);
    return 0;
}
