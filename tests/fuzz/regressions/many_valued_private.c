/* fuzz: {"threads": [8, 8], "distribution": "block", "machine": "sw26010"} */
#include <math.h>

void f(int n, int m, float *restrict A, double *restrict B, double *restrict C, double D[m], int *s0_p, double *s1_p)
{
  int s0 = *s0_p;
  double s1 = *s1_p;
  unsigned long x = 0;
#pragma scop
  for (int i = m - 4; i > 0 - 1; i -= 3) {
    float t1[2];
    for (int z = 0; z < 2; z++)
      t1[z] = (s0 % 13) * C[0];
    for (int j = 0; j <= 2 - 1; j++) {
      if (!(i <= m + 1)) {
        if (j < n - 1 || i > 6) {
          x = 0;
          if (s1 < 0.7) {
            x = (i) * (m) + i + j + 2;
          }
          B[x] = (s0 % 13) + (i);
        }
        if (j <= 1 || j == n - 1) {
          if (i == m + 1) {
            continue;
          }
        } else {
          double t2 = sqrt(fabs((B[(i) * (m) + i] + 0.5)));
          C[(i + m) % 1] *= 0.75;
        }
      } else {
        double t3[5];
        for (int z = 0; z < 5; z++)
          t3[z] = t1[j];
        t1[j] = t1[j];
      }
    }
  }
#pragma endscop
  *s0_p = s0;
  *s1_p = s1;
}
