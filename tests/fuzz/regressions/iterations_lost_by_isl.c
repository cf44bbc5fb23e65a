/* fuzz: {"threads": [1, 16], "tile": [2, 1, 8], "params": {"n": 33}, "machine": "sw26010"} */
#include <math.h>

void f(int n, double A[2 * n + 1][n])
{
#pragma scop
  for (int i = 0; i < n; i += 3) {
    for (int j = 0; j < n - 3; j++) {
      double t2 = 1;
      A[0][j] = t2 + A[0][j + 2];
    }
  }
#pragma endscop
}
