/* fuzz: {"fusion": "min", "machine": "sw26010-pro"} */
#include <math.h>

void f(int n, int m, double B[n][2 * n + 3])
{
#pragma scop
  for (int i = 3; i < n; i++) {
    for (int j = 0; n > j; ++j) {
      if (j != i - 1) {
        if ((i) % 4 == 1) {
          if (i < 9 || j != m - 1) {
            double t1 = 1;
            B[(j) / 4][i] = t1;
          }
        }
      }
    }
  }
#pragma endscop
}
