#ifndef KERNELS_H
#define KERNELS_H

#include "element.h"

#ifdef __cplusplus
extern "C" {
#endif

/* y := a x */
void scale(int n, element a, const element *x, element *y);

/* z := x + y */
void add(int n, const element *x, const element *y, element *z);

#ifdef __cplusplus
}
#endif
#endif
