/* fuzz: {"preset": "classic", "machine": "sw26010-pro"} */
#include <math.h>

void f(int n, double W0[12])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < (12 < i - 1 ? 12 : i - 1); j++) {
      W0[j] = W0[0];
    }
    for (int j = (0 > i - 1 ? 0 : i - 1); j < 12; j++) {
      W0[j] = W0[0];
    }
    W0[i % 3] *= 0.75;
  }
#pragma endscop
}
