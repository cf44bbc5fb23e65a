/* Three matrix products:  G := (A B) (C D). */

void three_mm(int ni, int nj, int nk, int nl, int nm,
              double AB[restrict ni][nj], double A[restrict ni][nk], double B[restrict nk][nj],
              double CD[restrict nj][nl], double C[restrict nj][nm], double D[restrict nm][nl],
              double G[restrict ni][nl])
{
#pragma scop
    for (int i = 0; i < ni; i++)
        for (int j = 0; j < nj; j++) {
            AB[i][j] = 0.0;
            for (int k = 0; k < nk; k++)
                AB[i][j] += A[i][k] * B[k][j];
        }

    for (int j = 0; j < nj; j++)
        for (int l = 0; l < nl; l++) {
            CD[j][l] = 0.0;
            for (int m = 0; m < nm; m++)
                CD[j][l] += C[j][m] * D[m][l];
        }

    for (int i = 0; i < ni; i++)
        for (int l = 0; l < nl; l++) {
            G[i][l] = 0.0;
            for (int j = 0; j < nj; j++)
                G[i][l] += AB[i][j] * CD[j][l];
        }
#pragma endscop
}
