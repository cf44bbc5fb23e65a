/* A line:  y = 2 x + b.  Nothing is used twice, so the memory decides. */

void line(int n, double b, double y[restrict n], double x[restrict n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        y[i] = 2.0 * x[i] + b;
#pragma endscop
}
