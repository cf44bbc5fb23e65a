#ifndef SCALE_H
#define SCALE_H

void scale(int n, double a, const double *x, double *y);

#endif
