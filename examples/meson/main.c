#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void gemm(int ni, int nj, int nk, double alpha, double beta,
          double C[restrict ni][nj], double A[restrict ni][nk], double B[restrict nk][nj]);

int main(void)
{
    enum { N = 100 };
    double (*A)[N] = malloc(sizeof(double[N][N]));
    double (*B)[N] = malloc(sizeof(double[N][N]));
    double (*C)[N] = malloc(sizeof(double[N][N]));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            A[i][j] = i == j; /* the unit matrix */
            B[i][j] = i - 2 * j;
            C[i][j] = 1;
        }
    gemm(N, N, N, 3, 0.5, C, A, B);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            if (fabs(C[i][j] - (0.5 + 3 * (i - 2 * j))) > 1e-9)
                return printf("C[%d][%d] is %g\n", i, j, C[i][j]), 1;
    puts("product correct");
    return 0;
}
