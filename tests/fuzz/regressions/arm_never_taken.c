/* fuzz: {"machine": "sw26010"} */
#include <math.h>

void f(int n, double A[n + 1][n + 1][n + 1])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    if (2 * i != n - 1 && (i + 1) % 4 == 1) {
      A[0][0][0] = 1;
    } else {
      double t1[5];
      for (int z = 0; z < 5; z++)
        t1[z] = 1;
      t1[0] = i == 6 ? t1[0] : 1;
    }
  }
#pragma endscop
}
