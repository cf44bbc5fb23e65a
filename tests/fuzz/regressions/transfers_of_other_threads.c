/* fuzz: {"threads": [2, 8], "tile": [1, 4, 16], "machine": "sw26010-pro"} */
#include <math.h>

void f(int n, double A[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < n; k++) {
      if ((i) % 4 != 1) {
        A[i][k] = 1;
      }
    }
  }
#pragma endscop
}
