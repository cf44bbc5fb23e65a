/* Nussinov's count of base pairs in the best folding of a sequence: best[i][j] is that of its part from i to j.
   Two bases pair if their codes add up to three, and do not stand side by side. */

#define MORE(a, b) ((a) >= (b) ? (a) : (b))
#define PAIRS(a, b) ((a) + (b) == 3 ? 1 : 0)

void nussinov(int n, char sequence[restrict n], int best[restrict n][n])
{
#pragma scop
    for (int i = n - 1; i >= 0; i--)
        for (int j = i + 1; j < n; j++) {
            if (j >= 1)
                best[i][j] = MORE(best[i][j], best[i][j - 1]);
            if (i + 1 < n)
                best[i][j] = MORE(best[i][j], best[i + 1][j]);
            if (j >= 1 && i + 1 < n) {
                if (i < j - 1)
                    best[i][j] = MORE(best[i][j], best[i + 1][j - 1] + PAIRS(sequence[i], sequence[j]));
                else
                    best[i][j] = MORE(best[i][j], best[i + 1][j - 1]);
            }
            for (int k = i + 1; k < j; k++)
                best[i][j] = MORE(best[i][j], best[i][k] + best[k + 1][j]);
        }
#pragma endscop
}
