/* fuzz: {"fusion": "min", "vectorize": "never", "share": "always", "machine": "sw26010-pro"} */
/* a work space that is filled in two halves of one text */
#include <math.h>

void f(int n, int m, float *restrict A, unsigned int *restrict B, double W0[12])
{
#pragma scop
  for (int i = 0; i < n - 3; i++) {
    for (int j = 1; i > j; j = j + 3) {
      for (int k = (12 < j ? 12 : j) - 1; k >= 0; k--) {
        W0[k] = 3 - 2;
      }
      W0[0] += 2;
      for (int k = 11; k >= (0 > j ? 0 : j); k--) {
        W0[k] = 3 - 2;
      }
      for (int k = 2; (n - 1 < j - 1 ? n - 1 : j - 1) > k; k += 1) {
        W0[3] += (W0[0] * 0.3) + ((W0[0] - 2) + W0[0]);
      }
    }
  }
#pragma endscop
}
