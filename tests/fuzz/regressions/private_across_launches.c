/* fuzz: {"tile": [3, 32], "params": {"n": 7}, "machine": "sw26010-pro"} */
/* a value that its use, one step of the wavefront later, would look for in another launch */
#include <math.h>
void f(int n, int m, double C[n])
{
#pragma scop
  for (int i = 2; i < n; i += 3) {
    for (int j = 1; j < i + 1; j++) {
      double t1 = C[-j + n - 1];
      C[j] += t1;
    }
  }
#pragma endscop
}
