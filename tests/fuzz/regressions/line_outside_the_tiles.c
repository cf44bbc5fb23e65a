/* fuzz: {"machine": "sw26010", "resident": "always"} */
void f(int n, int m, double a[m + n + 2][m + n + 2])
{
#pragma scop
  for (int t = 0; t < n; t++) {
    for (int i = t + 1; i < n; i++) {
      for (int j = 0; j < (m < m ? m : m); j++) {
        a[i][j] = a[i][j] - ((a[i][t] * a[t][t]) * 0.5);
      }
    }
  }
#pragma endscop
}
