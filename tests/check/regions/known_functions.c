/* Functions that are known by name, as polyhedral tools write them, and a region without any object. */
int min(int, int), max(int, int), floord(int, int), ceild(int, int);
void bounds(int n, double a[n], double b[n])
{
#pragma scop
  for (int i = max(0, n - 20); i < min(n, 2 * n - 10); i++)
    a[i] = i;
  for (int i = ceild(n, 3); i < floord(n, 2); i++)
    b[i] = i;
#pragma endscop
}

static inline void increase(int *v)
{
  v[0] += 1;
}

void nothing(void)
{
#pragma scop
  int v = 1;
  increase(&v);
#pragma endscop
}
