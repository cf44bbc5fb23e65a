/* fuzz: {"distribution": "joint", "fusion": "min", "prefetch": "never", "share": "never", "machine": "sw26010"} */
#include <math.h>

void f(int n, int m, double A[m][m][n], double B[m + 1][m], double W0[3][4], float *s0_p, double *s1_p)
{
  float s0 = *s0_p;
  double s1 = *s1_p;
  int i, j, k, l;
#pragma scop
  for (i = 0; i <= m - 1; i = i + 3) {
    for (j = 0; j < 3; j++) {
      for (k = 0; k < 4; k++) {
        W0[j][k] = s0 + s0;
      }
    }
    for (j = 0; j < 3; j++) {
      for (k = 0; k < 4; k++) {
        W0[j][k] = s0 + B[i][-i + m - 1];
      }
    }
    for (j = 0; j < 3; j++) {
      for (k = 0; k < 4; k++) {
        B[i][i] = W0[j][k] + ((i) % 4 == 0 ? s0 : (j));
      }
    }
    for (j = i + 2; n > j; j += 3) {
      for (k = 0; k < 3; k++) {
        for (l = 3; l >= 0; l--) {
          W0[k][l] = s0 + W0[k][k];
        }
      }
      for (k = 2; k >= 0; k--) {
        for (l = 0; l < 4; l++) {
          if (l != 8) {
            W0[k][l] += W0[1][l] - B[i][i];
          }
        }
      }
      for (k = 2; k >= 1; k--) {
        for (l = 3; l >= 1; l--) {
          B[(-i + m - 1 < 1 ? 1 : -i + m - 2)][i] = W0[k][l] + (s0 + s1);
        }
      }
      B[i][i] = B[i][i] + (W0[0][2] * s1);
      W0[0][0] += W0[0][2] - (0.5 + A[i][i][j]);
      A[-i + m - 1][i][j] = A[-i + m - 1][i][-j + n] + (j - 2);
    }
  }
#pragma endscop
  *s0_p = s0;
  *s1_p = s1;
}
