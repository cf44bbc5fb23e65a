#ifndef HEAT_STEP_H
#define HEAT_STEP_H

/* One explicit step of heat flow on an n by m grid:  new := old + k laplace(old);  the rim stays. */
void heat_step(int n, int m, double k, const double *old, double *new);

#endif
