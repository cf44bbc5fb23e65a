/* fuzz: {"machine": "sw26010"} */
/* the offset of an access in a strided domain */
void f(int n, double B[n + 4][n])
{
#pragma scop
  for (int j = 0; j < n; j++) {
    B[0][j] = j % 4 == 0 ? B[0][j] : B[0][j];
  }
#pragma endscop
}
