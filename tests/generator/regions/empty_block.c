#include <math.h>
void f(int n, int m, double *restrict A, float *restrict B, double *s0_p)
{
  double s0 = *s0_p;
  int i, j;
  const unsigned int st_A_0 = (n) * (n);
  const unsigned int st_A_1 = (n);
  const unsigned int st_B_0 = (n);
#pragma scop
  for (i = n - 2; i > 0 - 1; i--) {
    for (j = 0; j <= n - 1; j = j + 3) {
      B[st_B_0 * (0) + j] = (2 * j > n || (j + 1) % 2 != 1 ? B[st_B_0 * (0) + j] : 3) * 0.25;
    }
  }
  for (i = 2; n > i; i += 1) {
    if (A[st_A_0 * (i - 2) + st_A_1 * (-i + n - 1) + i - 1] < 1.5) {
      A[st_A_0 * ((i) / 1) + st_A_1 * (i) + i] = A[st_A_0 * (i) + st_A_1 * (i) + i - 1] - B[st_B_0 * (2) + i];
      for (j = n - 1; j >= 0; j = j - 1) {
        if ((i) % 4 != 0) {
          float t1[5];
          for (int z = 0; z < 5; z++)
            t1[z] = -1.5 + B[st_B_0 * (0) + j];
          B[st_B_0 * (0) + j] = t1[0];
        } else {
          double t2 = sqrt(fabs((A[st_A_0 * (i + 1) + st_A_1 * (j) + i] + 0.5)));
          B[st_B_0 * (0) + -j + n - 1] = A[st_A_0 * (-i + n - 1) + st_A_1 * (j) + (i) % 1];
        }
      }
    }
  }
#pragma endscop
  *s0_p = s0;
}
