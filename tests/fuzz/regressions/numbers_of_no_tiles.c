/* fuzz: {"distribution": "joint"} */
#include <math.h>

void f(int n, int D[40][n + 3][n])
{
#pragma scop
  for (int i = 0; i < 3; i++) {
    for (int j = 1; j < n - 1; j += 2) {
      D[i][j][j] = (1 % 13) % 11;
    }
  }
#pragma endscop
}
