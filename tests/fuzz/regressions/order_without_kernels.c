/* fuzz: {"threads": [30, 2], "distribution": "block", "machine": "sw26010"} */
/* An order of which no kernel is left was compared with one that has kernels. */
#include <math.h>

void f(int n, int m, double A[2 * m + 3][2 * m + 3], short B[m + n + 1], double *s0_p, double *s1_p)
{
  double s0 = *s0_p;
  double s1 = *s1_p;
#pragma scop
  for (int i = 2; m - 1 > i; ++i) {
    for (int j = 0; j <= m - 1; j++) {
      if (i + j == n + 1) {
        if (i < j - 1) {
          double t1 = (B[j] % 13) - (i - 2);
          B[i] += (B[j] % 13) % 3;
        } else {
          double t2 = A[i - 1][j] - s0;
          A[i][j] *= 0.75;
        }
      } else {
        float t3[5];
        for (int z = 0; z < 5; z++)
          t3[z] = A[j][1] * s1;
        s0 = (B[j + 1] % 13) + (((B[i] % 13) * s0) - (s1 - t3[0]));
      }
    }
  }
#pragma endscop
  *s0_p = s0;
  *s1_p = s1;
}
