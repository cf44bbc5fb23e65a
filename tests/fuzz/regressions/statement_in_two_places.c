/* fuzz: {"threads": [2, 32], "tile": [3, 1, 16], "machine": "sw26010"} */
/* halves of one text, whose order stays that of the source: each half has buffers of its own */
#include <math.h>

void f(int n, int m, double A[n][m + 1], short B[n][m][n])
{
#pragma scop
  for (int i = 3; i < n - 2; i += 2) {
    for (int j = 0; j < (m < i - 1 ? m : i - 1); j++) {
      A[i][(j) / 4] = A[i][0];
      if ((i + 1) % 3 != 0) {
        A[i][j] += (B[i][j][(i < 2 ? 2 : i - 1)] % 13) + A[i][j];
      }
    }
    for (int j = (0 > i - 1 ? 0 : i - 1); j < m; j++) {
      if ((i + 1) % 3 != 0) {
        A[i][j] += (B[i][j][(i < 2 ? 2 : i - 1)] % 13) + A[i][j];
      }
    }
  }
#pragma endscop
}
