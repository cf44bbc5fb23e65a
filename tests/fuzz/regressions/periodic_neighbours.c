/* fuzz: {"machine": "sw26010"} */
/* neighbours whose distance is a constant on each piece, but not the same one */
void f(int n, int m, double A[2][n + 8])
{
#pragma scop
  for (int t = 1; t < 4; t++)
    for (int i = 0; i < n + 8; i++)
      A[t % 2][i] = 0.25 * A[(t - 1) % 2][i == 0 ? n + 7 : i - 1] + 0.5 * A[(t - 1) % 2][i]
                  + 0.25 * A[(t - 1) % 2][i == n + 7 ? 0 : i + 1];
#pragma endscop
}
