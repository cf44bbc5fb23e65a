/* fuzz: {"tile": [1, 4], "machine": "sw26010-pro"} */
#include <math.h>

void handed_on_in_two_loops(int n, double c0[n][n + 3], double a00[n + 2][n][n + 1], double a01[n][n + 3])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < n; k++) {
      for (int l = 0; l < n; l++) {
        c0[i][0] = a00[0][l][0] - a01[k][0];
      }
    }
  }
#pragma endscop
}
