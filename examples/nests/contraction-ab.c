/* Contraction of two tensors with four indices over two of them,
   the summed indices last in A and first in B: a product of two matrices. */

void contraction_ab(int n, double A[restrict n][n][n][n], double B[restrict n][n][n][n], double C[restrict n][n][n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                for (int l = 0; l < n; l++)
                    for (int p = 0; p < n; p++)
                        for (int q = 0; q < n; q++)
                            C[i][j][k][l] += A[i][j][p][q] * B[p][q][k][l];
#pragma endscop
}
