/* fuzz: {} */
#include <math.h>

void f(int n, int m, double B[8], double W0[5])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < 5; j++) {
      W0[j] = 1;
    }
    for (int j = 0; j < n; j += 2) {
      W0[0] = 1;
      for (int k = 0; k < 5; k++) {
        B[0] = W0[k];
      }
      for (int k = 0; k < n; k++) {
        if (!(j != i - 1)) {
          double t3 = W0[0];
          t3 = k > m + 1 ? t3 : 1;
        } else {
          double t4[4];
          for (int z = 0; z < 4; z++)
            t4[z] = 7;
          t4[0] += 1;
        }
      }
    }
  }
#pragma endscop
}
