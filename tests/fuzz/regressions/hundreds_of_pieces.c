/* fuzz: {"threads": [32, 2], "machine": "sw26010-pro"} */
#include <math.h>

void f(int n, double A[n][n][n])
{
#pragma scop
  for (int i = 0; i < n; i = i + 1) {
    for (int j = 3; (i + 2 < i + 2 ? i + 2 : i + 2) > j; ++j) {
      for (int k = 0; n - 1 > k; ++k) {
        if ((j) % 3 != 0 && (i) % 4 != 1) {
          A[j - 2][k][i] += A[k + 1][i][j - 1] + (A[j - 1][k][k] + 1.25);
        }
      }
    }
  }
#pragma endscop
}
