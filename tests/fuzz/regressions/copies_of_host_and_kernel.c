/* fuzz: {"machine": "sw26010-pro"} */
#include <math.h>

void f(int n, double A[n][n + 1][n], double *s0_p)
{
  double s0 = *s0_p;
#pragma scop
  for (int i = 1; i < n; i++) {
    for (int j = 0; j < n; j++) {
      for (int k = 0; k < n; k++) {
        if (k == j + 1) {
          if (k % 3 == 0) {
            double t1 = A[i][0][k];
            s0 = t1;
          } else {
            double t3[2];
            for (int z = 0; z < 2; z++)
              t3[z] = s0;
            A[j][0][k] = (j + 1) % 4 == 1 && k % 2 != 0 ? t3[1] : t3[0];
          }
        }
      }
    }
  }
#pragma endscop
  *s0_p = s0;
}
