/* fuzz: {"distribution": "block", "preset": "classic"} */
#include <math.h>

void f(int n, int m, double B[n][m], double C[n + 1][n + 2])
{
#pragma scop
  for (int i = 2; i <= n - 1; i = i + 3) {
    for (int j = 3; m - 1 > j; ++j) {
      for (int k = i + 1; k <= n - 1; ++k) {
        for (int l = 3; l <= n - 1; l++) {
          if ((k) % 3 != 0) {
            C[l][l] = 1;
          } else {
            double t2 = C[i][l + 2] - B[i - 2][j];
            B[i - 2][j] -= C[k][l];
          }
        }
      }
    }
  }
#pragma endscop
}
