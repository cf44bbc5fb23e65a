/* fuzz: {"machine": "sw26010-pro"} */
#include <math.h>

void f(int n, double A[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      A[i][j] = 2 * j != n - 1 ? 1 : A[i][j];
    }
  }
#pragma endscop
}
