/* fuzz: {"resident": "always", "prefetch": "never", "machine": "sw26010"} */
#include <math.h>

void f(int n, int m, float a[m + n + 2][m + n + 2], float u[m + n + 2])
{
#pragma scop
  for (int t = 0; t < n; t++) {
    for (int i = t + 1; i < n; i++) {
      u[i] = 1;
    }
    for (int i = 0; i < t; i++) {
      a[i][0] = a[i + 1][1] - u[i];
    }
    for (int i = 0; i < n; i++) {
      a[i][t] = (u[i] * 0.25) + 1;
    }
  }
#pragma endscop
}
