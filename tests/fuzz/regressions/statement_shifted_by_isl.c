/* fuzz: {"preset": "classic", "machine": "sw26010"} */
#include <math.h>

void f(int n, double B[n][40], double *s0_p)
{
  double s0 = *s0_p;
#pragma scop
  for (int i = 0; i < n - 3; i++) {
    if (2 * i == n + 1) {
      B[i][0] = 3;
    } else {
      double t2[5];
      for (int z = 0; z < 5; z++)
        t2[z] = B[i + 2][z];
      s0 = t2[2];
    }
  }
#pragma endscop
  *s0_p = s0;
}
