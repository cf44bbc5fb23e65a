/* fuzz: {"machine": "sw26010"} */
/* a countdown loop that is kept sequential counts down */
void f(int n, double A[n + 3][5])
{
#pragma scop
  for (int i = n - 3; 2 <= i; i -= 1)
    A[i][0] = A[i - 1][0] * 0.5;
#pragma endscop
}
