/* fuzz: {"params": {"n": 33}, "machine": "sw26010"} */
/* a call with another size than the fixed one is computed serially */
void f(int n, double A[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    A[i] += 1.0;
#pragma endscop
}
