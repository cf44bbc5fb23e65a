/* Sum of two matrix-vector products:  y := alpha A x + beta B x. */

void gesummv(int n, double alpha, double beta, double A[restrict n][n], double B[restrict n][n],
             double x[restrict n], double y[restrict n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double ax = 0.0;
        double bx = 0.0;
        for (int j = 0; j < n; j++) {
            ax += A[i][j] * x[j];
            bx += B[i][j] * x[j];
        }
        y[i] = alpha * ax + beta * bx;
    }
#pragma endscop
}
