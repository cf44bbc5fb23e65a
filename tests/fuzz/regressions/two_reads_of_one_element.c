/* fuzz: {"machine": "sw26010"} */
/* two reads of one array in one statement, one of them in a part of its domain */
void f(int n, double B[n], double D[n][n + 2])
{
#pragma scop
  for (int i = 2; i < n; i++) {
    for (int j = 0; j < n; j++) {
      if (D[i][0] > 0.7) {
        double t1 = j <= 1 ? D[-i + n][0] : B[i];
      } else {
        D[i][j] = B[i];
      }
    }
  }
#pragma endscop
}
