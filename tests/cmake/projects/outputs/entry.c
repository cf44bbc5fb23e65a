#include <stdio.h>

#include "scale.h"
#include "scale.sw.h"

int main(void)
{
    double x[64], y[64] = {0};
    for (int i = 0; i < 64; i++)
        x[i] = i;
    scale(64, 4, x, y);
    printf("%g\n", y[63]);
    return 0;
}
