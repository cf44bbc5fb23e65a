/* fuzz: {"threads": [2, 32], "distribution": "block", "machine": "sw26010"} */
#include <math.h>

void f(int n, int m, float A[m][m], float D[m + 2][m + 2])
{
#pragma scop
  for (int i = 1; i <= m - 1; i += 3) {
    for (int j = m - 1; j > 1 - 1; j--) {
      A[(j) % 1][i] = D[i][j];
      for (int k = i + 1; k < m - 3; k++) {
        D[j][i + 2] = D[j + 2][k];
      }
    }
    for (int j = i + 1; j <= m - 1 - 1; ++j) {
      for (int k = 2; k < (m < j + 4 ? m : j + 4); k = k + 1) {
        D[j - 1][k] = i + 1;
      }
    }
  }
#pragma endscop
}
