/* fuzz: {"resident": "always", "ldm_budget": 1024, "vectorize": "never", "prefetch": "never", "machine": "sw26010"} */
#include <math.h>

void f(int n, int m, float a[m + n + 2][m + n + 2], float c[m + n + 2][m + n + 2], float u[m + n + 2], float v[m + n + 2])
{
#pragma scop
  for (int t = 1; t < n; t++) {
    for (int i = t + 1; i < n; i++) {
      u[i] = (a[i][t] * 0.5) + 1;
    }
    for (int i = t + 1; i < n; i++) {
      for (int j = 0; j < m; j++) {
        if (j != t) {
          a[i][j] = a[i][j] + ((a[i][t] + u[i]) * 1.5);
        }
      }
    }
    for (int i = t + 1; i < n; i++) {
      for (int j = 1; j < m - 1; j++) {
        v[j] = v[j] + (a[i][j] * (u[i] * 0.03125));
      }
    }
  }
#pragma endscop
}
