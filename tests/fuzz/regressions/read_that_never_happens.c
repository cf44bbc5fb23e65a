/* fuzz: {"params": {"n": 2}, "machine": "sw26010-pro"} */
/* for this size the condition decides against the only read */
void f(int n, int m, double C[n])
{
#pragma scop
  for (int j = 0; j < n; j++) {
    C[j] = (j + 1) % 3 != 0 ? 1 : C[j];
  }
#pragma endscop
}
