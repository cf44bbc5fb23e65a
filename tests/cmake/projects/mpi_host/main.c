#include "scale.h"

int main(void)
{
    double x[3] = {1, 2, 3}, y[3];
    scale(3, 2, x, y);
    return y[2] != 6;
}
