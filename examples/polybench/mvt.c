/* A matrix and its transpose applied to two vectors:  x1 := x1 + A y1,  x2 := x2 + A' y2. */

void mvt(int n, double x1[restrict n], double x2[restrict n], double y1[restrict n], double y2[restrict n],
         double A[restrict n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x1[i] += A[i][j] * y1[j];

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x2[i] += A[j][i] * y2[j];
#pragma endscop
}
