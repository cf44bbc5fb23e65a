/* fuzz: {"params": {"n": 7}, "machine": "sw26010"} */
#include <math.h>

void f(int n, int m, double A[m][n + 1], double *s0_p)
{
  double s0 = *s0_p;
#pragma scop
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < m - 3; j++) {
      if (s0 > 0.5) {
        if (j >= n) {
          if (j > 6) {
            A[i][0] = 1;
          } else {
            A[j][0] = 1;
          }
        }
      }
    }
  }
#pragma endscop
  *s0_p = s0;
}
