/* fuzz: {"tile": [2, 32, 16], "machine": "sw26010"} */
#include <math.h>

void f(int n, double B[n + 1][n + 1], double C[n][n + 3], double *s0_p)
{
  double s0 = *s0_p;
#pragma scop
  for (int i = 0; i < n; i += 3) {
    for (int j = 0; j < i + 1; j++) {
      for (int k = 0; k < i + 2; k++) {
        if (s0 < 1.5) {
          double t1 = (k + 1) % 4 == 1 ? -1.5 : B[0][0];
          C[j][k] = 0.75;
        }
      }
    }
  }
#pragma endscop
  *s0_p = s0;
}
