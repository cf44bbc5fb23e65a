/* fuzz: {"tile": [16, 2], "machine": "sw26010"} */
/* In the first round, the CPE whose loop over k is longest has no tile: its rows were handed on, and there are none. */
void f(int n, int m, double c[n][n], double a[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 2; j < n; j++)
      for (int k = n - 1; k >= j; k--)
        c[i][j] = a[k][i] + m;
#pragma endscop
}
