/* fuzz: {"distribution": "block", "preset": "classic", "tile": [16], "machine": "sw26010"} */
/* blocks of tiles whose bounds mention a counter of the host */
void f(int n, double A[40][n + 3])
{
  int i, j, k;
#pragma scop
  for (i = 0; i < n; i++) {
    for (j = i + 2; j < n; j++) {
      for (k = i + 2; k < n; k++) {
        A[0][k - 2] += 1;
      }
      A[0][(j) % 2] += 1;
    }
  }
#pragma endscop
}
