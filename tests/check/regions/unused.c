/* Names that the model does without: values that nothing needs, and structures named as a whole. */
struct pair {
  double a, b;
};

void idle(int n, int m, double s, double x[n], double y[n], double z[m])
{
  int i, j;
  double unused;
#pragma scop
  for (i = 0; i < n; i++) {
    double t = s * y[i];
    unused = 2 * y[i];
    for (j = 0; j < m; j++)
      t += z[j];
    x[i] = y[i] + 1;
  }
#pragma endscop
}

void whole(int n, struct pair p[n], struct pair q)
{
#pragma scop
  q.a = q.b + 1;
  for (int i = 0; i < n; i++)
    p[i] = q;
#pragma endscop
}
