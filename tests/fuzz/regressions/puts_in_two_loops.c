/* fuzz: {"threads": [51, 1], "tile": [4, 2], "machine": "sw26010-pro"} */
#include <math.h>

void f(int n, double B[n][n][n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    if ((i + 1) % 4 != 1) {
      continue;
    }
    if ((i) % 3 == 0) {
      B[i][i][i] = 1;
    } else {
      B[i][i][i] = 1;
    }
  }
#pragma endscop
}
