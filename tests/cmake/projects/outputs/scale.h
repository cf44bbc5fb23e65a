#ifndef SCALE_H
#define SCALE_H

#ifdef __cplusplus
extern "C"
#endif
void scale(int n, double a, const double *x, double *y);

#endif
