/* fuzz: {"machine": "sw26010"} */
/* flow analysis of local arrays in strided loops */
void f(int n, double A[n])
{
#pragma scop
  for (int i = 0; n > i; ++i) {
    for (int j = 0; j < i + 1; j += 2) {
      for (int k = 2; k < n; k++) {
        if (j + k < i + 1) {
          double t1 = 1;
        } else {
          double t2[4];
          for (int z = 0; z < 4; z++)
            t2[z] = 1;
          t2[0] = 1;
        }
      }
    }
  }
#pragma endscop
}
