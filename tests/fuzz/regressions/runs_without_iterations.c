/* fuzz: {"machine": "sw26010"} */
void f(int n, int m, double a[m + n + 2][m + n + 2])
{
#pragma scop
  for (int t = 1; t < n; t++) {
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < m; j++) {
        a[i][j] = a[i][t] * 0.25;
      }
    }
    for (int i = t; i < n; i++) {
      for (int j = 0; j < m; j++) {
        if (j != t) {
          if (i != t) {
            a[i][j] = a[i][j] - (a[t][j] * 1.5);
          }
        }
      }
    }
  }
#pragma endscop
}
