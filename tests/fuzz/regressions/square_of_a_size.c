/* fuzz: {"machine": "sw26010-pro"} */
#include <math.h>

void f(int n, int m, long *restrict A)
{
#pragma scop
  A[((0) * (m + 2) + 0) * (m + 2) + 0] = (A[((1) * (m + 2) + 0) * (m + 2) + 1] % 13) % 11;
#pragma endscop
}
