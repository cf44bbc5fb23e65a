/* fuzz: {"machine": "sw26010"} */
#include <math.h>

void f(int n, int m, unsigned int A[5][n + 1], double W0[5])
{
  int i, j, k;
#pragma scop
  for (i = 2; n - 2 > i; ++i) {
    W0[0] = 1;
    W0[0] = 1;
    W0[0] = 1;
    for (j = 2; j < m; j = j + 1) {
      A[(2 * j) % 3][i] = A[i % 3][i] + A[0][i];
    }
    for (j = 0; n - 3 > j; ++j) {
      for (k = 3; (m < j + 4 ? m : j + 4) > k; ++k) {
        if ((i + 1) % 4 != 1) {
          if (j >= 7 && i < m) {
            double t2 = W0[0] * W0[0];
            W0[2] -= t2 + (A[3][0] % 13);
          } else {
            double t3[2];
            for (int z = 0; z < 2; z++)
              t3[z] = (A[z][i + z] % 13) + (z + 1);
            t3[0] = (t3[0] + t3[0]) + (W0[0] + (A[j % 3][0] % 13));
          }
        }
      }
    }
  }
#pragma endscop
}
