/* fuzz: {"machine": "sw26010-pro"} */
#include <math.h>

void f(int n, int m, double A[m + 3][40])
{
#pragma scop
  for (int i = 0; i < m - 1; i++) {
    A[i][0] = A[0][0];
    for (int j = 0; j < m; j++) {
      if (i <= n) {
        A[0][0] = 0.75;
      } else {
        double t2[5];
        for (int z = 0; z < 5; z++)
          t2[z] = A[j][0];
        t2[0] = t2[0];
      }
    }
  }
#pragma endscop
}
