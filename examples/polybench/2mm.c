/* Two matrix products in a row:  D := alpha A B C + beta D. */

void two_mm(int ni, int nj, int nk, int nl, double alpha, double beta,
            double AB[restrict ni][nj], double A[restrict ni][nk], double B[restrict nk][nj],
            double C[restrict nj][nl], double D[restrict ni][nl])
{
#pragma scop
    for (int i = 0; i < ni; i++)
        for (int j = 0; j < nj; j++) {
            AB[i][j] = 0.0;
            for (int k = 0; k < nk; k++)
                AB[i][j] += alpha * A[i][k] * B[k][j];
        }

    for (int i = 0; i < ni; i++)
        for (int l = 0; l < nl; l++) {
            D[i][l] *= beta;
            for (int j = 0; j < nj; j++)
                D[i][l] += AB[i][j] * C[j][l];
        }
#pragma endscop
}
