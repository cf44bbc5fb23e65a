/* QR decomposition by the modified method of Gram and Schmidt:  A = Q R, column by column; A is used up. */

#include <math.h>

void gramschmidt(int m, int n, double A[restrict m][n], double R[restrict n][n], double Q[restrict m][n])
{
#pragma scop
    for (int k = 0; k < n; k++) {
        double square = 0.0;
        for (int i = 0; i < m; i++)
            square += A[i][k] * A[i][k];
        R[k][k] = sqrt(square);
        for (int i = 0; i < m; i++)
            Q[i][k] = A[i][k] / R[k][k];
        for (int j = k + 1; j < n; j++) {
            R[k][j] = 0.0;
            for (int i = 0; i < m; i++)
                R[k][j] += Q[i][k] * A[i][j];
            for (int i = 0; i < m; i++)
                A[i][j] -= Q[i][k] * R[k][j];
        }
    }
#pragma endscop
}
