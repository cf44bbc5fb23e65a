/* fuzz: {"machine": "sw26010"} */
/* The number of iterations of its loops took isl 40 s. */
#include <math.h>

void f(int n, float A[8][n + 3][n + 4], double B[n + 2][n + 2])
{
#pragma scop
  for (int i = 1; i <= n - 1; i += 3) {
    for (int j = (n < i + 32 ? n : i + 32) - 1; j >= 0; j--) {
      for (int k = i + 1; k < n - 3; k = k + 1) {
        if (i >= 7) {
          double t1 = A[0][j][k] + B[j + 1][k + 2];
          B[k][j] = ((t1 * (i - 2)) - (k <= j ? t1 : A[0][j][k])) - ((A[0][i][k + 1] * (j)) * 0.3);
        }
      }
    }
  }
#pragma endscop
}
