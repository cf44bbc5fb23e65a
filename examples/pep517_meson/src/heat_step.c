#include "heat_step.h"

void heat_step(int n, int m, double k, const double *old_, double *new_)
{
    const double (*old)[m] = (const double (*)[m])old_;
    double (*new)[m] = (double (*)[m])new_;
#pragma scop
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            new[i][j] = old[i][j]
                        + k * (old[i - 1][j] + old[i + 1][j] + old[i][j - 1] + old[i][j + 1] - 4 * old[i][j]);
#pragma endscop
}
