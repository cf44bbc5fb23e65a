/* fuzz: {"distribution": "block", "tile": [32, 8], "machine": "sw26010"} */
#include <math.h>

void f(int n, double A[n + 3][n][8], int B[n][n + 1][n], double C[n + 4][n + 4], long D[n][n], float *s0_p, int *s1_p)
{
  float s0 = *s0_p;
  int s1 = *s1_p;
#pragma scop
  for (int i = 0; i <= n - 1; i = i + 3) {
    for (int j = 3; j <= n - 1 - 1; ++j) {
      if ((j) % 4 != 1 || j == n) {
        double t1 = s0 * (B[i][i][i] % 13);
        D[j][i] = ((D[j - 2][i] % 13) - (((B[i][j][i] % 13) + (D[i][j] % 13)) + ((i - 2) - (D[j][j] % 13)))) % 11;
      }
    }
  }
#pragma endscop
  *s0_p = s0;
  *s1_p = s1;
}
