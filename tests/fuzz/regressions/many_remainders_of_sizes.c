/* fuzz: {"threads": [19, 1], "distribution": "joint", "preset": "classic", "vectorize": "never"} */
#include <math.h>

void f(int n, int m, double A[m][1][m + 1], double B[n][m][m], double W0[12], double W1[3][4])
{
#pragma scop
  for (int i = n - 2; i > 0 - 1; --i) {
    for (int j = 0; n - 2 > j; ++j) {
      for (int k = 11; k >= 0; k--) {
        W0[k] = (j) + 2;
      }
      for (int k = 0; m - 1 > k; k += 1) {
        if (i <= m) {
          float t1[2];
          for (int z = 0; z < 2; z++)
            t1[z] = W0[0] * W1[z][2];
          W1[0][(j + 2) % 2] = t1[0];
        }
      }
    }
    if (W0[0] > 1.5) {
      for (int j = 2; j >= 0; j--) {
        for (int k = 3; k >= 0; k--) {
          W1[j][k] = (k) * 1.25;
        }
      }
      W1[0][(i + m) % 4] = (W0[0] + (W1[0][1] * (i + 1))) + ((W0[0] + W1[0][2]) * 0.5);
    }
  }
#pragma endscop
}
