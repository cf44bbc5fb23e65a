/* Contraction of two tensors with four indices over two of them,
   the summed indices first in A and last in B. */

void contraction_turned(int n, double A[restrict n][n][n][n], double B[restrict n][n][n][n], double C[restrict n][n][n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                for (int l = 0; l < n; l++)
                    for (int p = 0; p < n; p++)
                        for (int q = 0; q < n; q++)
                            C[i][j][k][l] += A[p][i][q][j] * B[k][p][l][q];
#pragma endscop
}
