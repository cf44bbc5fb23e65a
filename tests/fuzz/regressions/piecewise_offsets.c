/* fuzz: {"machine": "sw26010"} */
/* offsets that are one constant or another must not be taken for the first of them */
void f(int n, int m, double A[n + 8][20], double B[40])
{
#pragma scop
  for (int i = 0; i < 36; i++)
    B[i] = A[0][(i < 3 ? 0 : 5)] + A[1][i % 4 == 1 ? 2 : 0];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 10; j++)
      A[i][j + (i > 4 ? 9 : 0)] = A[i][j + (j < 3 ? 1 : 4)] * 0.5;
#pragma endscop
}
