/* fuzz: {"machine": "sw26010-pro"} */
#include <math.h>

void f(int n, double W1[3][4])
{
#pragma scop
  for (int i = 2; i < n - 3; i += 2) {
    for (int j = 0; j < 3; j++) {
      for (int k = 0; k < 4; k++) {
        W1[j][k] = 1;
      }
    }
    if (2 * i <= n) {
      W1[(n) % 2][0] -= 1;
    }
  }
#pragma endscop
}
