/* The sizes of a grid are elements of an array, as Fortran codes that became C have them. */
static int grid_points[3];
static double u[40][40][40], forcing[40][40];

void shape(double scale)
{
#pragma scop
  for (int i = 1; i <= grid_points[0] - 2; i++)
    for (int j = 0; j < grid_points[1]; j++)
      for (int k = 0; k <= grid_points[2] - 1; k++)
        u[i][j][k] = scale * u[i][j][k] + grid_points[0];
#pragma endscop
}

void given(int n, const int *restrict size, double a[n])
{
#pragma scop
  for (int i = 0; i < size[1]; i++)
    a[i] += size[0];
#pragma endscop
}

void pointed_at(const int *n, const long *m, double *restrict a)
{
#pragma scop
  for (int i = 0; i < *n; i++)
    for (int j = 0; j < *m; j++)
      a[i * *m + j] += i - *n;
#pragma endscop
}
