/* fuzz: {"threads": [15, 1], "distribution": "joint", "tile": [3]} */
#include <math.h>

void f(int n, int m, double A[2 * m][n], double W0[5])
{
#pragma scop
  for (int i = 1; i < n; i = i + 1) {
    for (int j = 4; j >= 0; j--) {
      W0[j] = 2 - 2;
    }
    for (int j = 0; j < 5; j++) {
      if ((j + 1) % 3 != 1) {
        W0[j] += fabs(fabs((2 + 0.5)));
      }
    }
    if (2 * i >= n + 1 && 0 < 0) {
      if ((i) % 4 != 0 || (i + 1) % 4 != 0) {
        if (0 >= -1) {
          continue;
        }
      }
      double t1 = W0[1] + W0[1];
    } else {
      float t2 = W0[0] * W0[0];
      W0[0] += t2;
    }
  }
#pragma endscop
}
