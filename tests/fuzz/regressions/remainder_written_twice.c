/* fuzz: {"machine": "sw26010-pro"} */
#include <math.h>

void f(int n, double A[n][40], double B[n])
{
#pragma scop
  for (int t = 0; t < n; t++) {
    for (int i = 0; i < n; i++) {
      for (int j = 2; j < n; j++) {
        for (int k = n - 1; k >= 0; k--) {
          B[k] = A[j][0];
          if ((k + 1) % 3 != 1) {
            double t1 = B[-j + n];
            t1 += 1;
          } else {
            A[j][0] = A[j][0] - 1;
          }
        }
      }
    }
  }
#pragma endscop
}
