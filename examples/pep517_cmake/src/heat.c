/* What Python calls: several steps between two grids. */
#include "heat_step.h"

/* Do `steps` steps from a; return 1 if the result is in b, else 0.  Both have the same rim. */
int heat_steps(int n, int m, double k, int steps, double *a, double *b)
{
    for (int t = 0; t < steps; t++) {
        if (t % 2 == 0)
            heat_step(n, m, k, a, b);
        else
            heat_step(n, m, k, b, a);
    }
    return steps % 2;
}
