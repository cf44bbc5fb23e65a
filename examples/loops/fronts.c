/* Nests in which every loop carries a dependence: their tiles run in wavefronts. */

/* Gauss-Seidel with nine points, over and over. */
void gauss_seidel(int steps, int n, double u[restrict n][n])
{
#pragma scop
    for (int t = 0; t < steps; t++)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                u[i][j] = (u[i - 1][j - 1] + u[i - 1][j] + u[i - 1][j + 1] + u[i][j - 1] + u[i][j] + u[i][j + 1]
                           + u[i + 1][j - 1] + u[i + 1][j] + u[i + 1][j + 1]) / 9.0;
#pragma endscop
}

/* The score of the best alignment of two sequences, with a fixed price for a gap. */
void alignment(int n, int m, int gap, int first[restrict n], int second[restrict m], int score[restrict n + 1][m + 1])
{
#pragma scop
    for (int i = 0; i <= n; i++)
        score[i][0] = -i * (gap % 8);
    for (int j = 1; j <= m; j++)
        score[0][j] = -j * (gap % 8);
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++) {
            int match = score[i - 1][j - 1] + (first[i - 1] % 4 == second[j - 1] % 4 ? 2 : -1);
            int skip_first = score[i - 1][j] - gap % 8;
            int skip_second = score[i][j - 1] - gap % 8;
            int best = match > skip_first ? match : skip_first;
            score[i][j] = best > skip_second ? best : skip_second;
        }
#pragma endscop
}

/* A wave that runs through a cube from one corner, over a triangle of it. */
void corner(int n, float cube[restrict n][n][n])
{
#pragma scop
    for (int i = 1; i < n; i++)
        for (int j = 1; j <= i; j++)
            for (int k = 1; k < n - 1; k++)
                cube[i][j][k] = 0.25f * (cube[i - 1][j][k] + cube[i][j - 1][k] + cube[i][j][k - 1] + cube[i][j][k + 1]);
#pragma endscop
}
