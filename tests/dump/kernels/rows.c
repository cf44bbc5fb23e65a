/* Each iteration needs a whole row of a table: no tile of the user's size fits. */
void rows(int n, double out[restrict n][n], const double table[restrict n][16384])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            out[i][j] = 0.0;
            for (int k = 0; k < 16384; k++)
                out[i][j] += table[i][k] * table[j][k];
        }
#pragma endscop
}
