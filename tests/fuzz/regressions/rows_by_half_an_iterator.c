/* fuzz: {} */
/* The vectors of B[i / 2][i] along i were stored as though they lay in one row. */
#include <math.h>

void f(int n, double A[n][n], double B[n][n], double C[n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    B[i / 2][i] = 0.75;
    for (int j = 0; j < n; j++) {
      B[i][j] = 1;
    }
  }
  for (int i = 0; i < n; i++) {
    A[i / 3][i] = C[i / 2] + C[i];
  }
  for (int i = 0; i < n; i++) {
    A[i - i / 3][i] += B[i / 2][i] * C[i / 4];
  }
#pragma endscop
}
