/* fuzz: {"machine": "sw26010"} */
/* a guard around a statement that begins with an if */
void f(int n, long A[n], double B[n])
{
#pragma scop
  for (int j = 1; j < n; j++) {
    if (B[j] < 0.5) {
      for (int l = j; l < n; ++l) {
        if (B[l - 1] < 1.5) {
          A[j] = (A[l] % 13 + A[j] % 13) % 11;
        } else {
          A[j - 1] -= (A[l] % 13 + A[j] % 13) % 3;
        }
      }
    } else {
      A[j] = A[j] % 11;
    }
  }
#pragma endscop
}
