/* fuzz: {"params": {"n": 7}, "machine": "sw26010"} */
#include <math.h>

void f(int n, double A[n + 4][n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double t1[2];
    for (int z = 0; z < 2; z++)
      t1[z] = 1;
    A[0][i] = i < 10 ? t1[0] : t1[0];
  }
#pragma endscop
}
