/* fuzz: {"machine": "sw26010"} */
#include <math.h>

void f(int n, double B[n + 1][n + 3][n])
{
#pragma scop
  for (int i = n - 1; i >= 0; i -= 3) {
    if ((i) % 4 != 1) {
      B[0][0][i] = 0.75;
    }
  }
#pragma endscop
}
