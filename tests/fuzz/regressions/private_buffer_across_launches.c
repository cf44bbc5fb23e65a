/* fuzz: {"threads": [1, 16], "params": {"n": 2}, "machine": "sw26010-pro"} */
/* a private value in a buffer of its own is used in the launch that sets it */
#include <math.h>
void f(int n, int m, double A[n + 2])
{
#pragma scop
  for (int t = 0; t < 3; t++) {
    for (int i = 0; n > i; i += 1) {
      for (int j = 0; n > j; ++j) {
        double t1 = j != n - 1 ? A[i] : 7;
        A[i] = (j > i ? A[j] : (t1 + t1)) + (t1 * 0.3);
      }
    }
  }
#pragma endscop
}
