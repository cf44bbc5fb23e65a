/* fuzz: {"machine": "sw26010"} */
void f(int n, double B[n + 2][n], double C[n + 2][n])
{
  int row;
#pragma scop
  for (int i = 0; i < n; i++) {
    row = i * n;
    for (int j = 0; j < n; j++) {
      if (j % 3 == 1) {
        B[0][j] = C[row / (n + 1)][j];
      }
    }
  }
#pragma endscop
}
