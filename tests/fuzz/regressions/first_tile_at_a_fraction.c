/* fuzz: {"vectorize": "never", "share": "never", "machine": "sw26010-pro"} */
#include <math.h>

void f(int n, short A[n])
{
#pragma scop
  for (int i = 0; n > i; ++i) {
    A[i] = 3;
    for (int j = 0; n - 2 > j; ++j) {
      A[j] = A[j + 1];
    }
    for (int j = (0 > i + 1 ? 0 : i + 1); n > j; ++j) {
      double t1[2];
      for (int z = 0; z < 2; z++)
        t1[z] = A[i];
    }
  }
#pragma endscop
}
