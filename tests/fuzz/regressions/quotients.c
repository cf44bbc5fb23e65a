/* fuzz: {"machine": "sw26010"} */
/* flow analysis with quotients in subscripts */
#include <math.h>
void f(int n, int m, float A[n][m][m], double B[m + n + 1][m + n + 1])
{
  int i, j, k;
#pragma scop
  for (i = 3; i <= n - 1; i++) {
    B[i][(i) / 2] -= (B[i][(i) / 3] + B[(i) % 3][(i) / 4]) - (B[(i + m) / 4][(i) / 3] - B[i][i - 2]);
  }
  for (i = 0; i <= 2 - 1; i++) {
    for (j = 2; j <= m - 2 - 1; j += 2) {
      double t1 = 3 + B[j][j];
      for (k = 2; m > k; ++k) {
        B[(k) / 2][j] = t1 + t1;
        if ((i) % 3 == 1) {
          float t2 = fabs(fabs((t1 + 0.5)));
          B[-j + m][-k + m - 1] = (t1 + (t1 - t2)) + ((t2 - t1) + (t2 + B[j][-k + m - 1]));
        } else {
          double t3[5];
          for (int z = 0; z < 5; z++)
            t3[z] = t1 - t1;
          t3[i] = t3[i];
        }
      }
    }
  }
#pragma endscop
}
