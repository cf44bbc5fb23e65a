/* Correlations of m variables, each a column of n observations; the columns are centred and scaled in place.
   What hardly varies is taken to have a deviation of one. */

#include <math.h>

void correlation(int m, int n, double data[restrict n][m], double corr[restrict m][m],
                 double mean[restrict m], double deviation[restrict m])
{
#pragma scop
    for (int j = 0; j < m; j++) {
        mean[j] = 0.0;
        for (int i = 0; i < n; i++)
            mean[j] += data[i][j];
        mean[j] /= n;
    }
    for (int j = 0; j < m; j++) {
        deviation[j] = 0.0;
        for (int i = 0; i < n; i++)
            deviation[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
        deviation[j] = sqrt(deviation[j] / n);
        deviation[j] = deviation[j] <= 0.1 ? 1.0 : deviation[j];
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            data[i][j] -= mean[j];
            data[i][j] /= sqrt((double)n) * deviation[j];
        }
    for (int i = 0; i < m - 1; i++) {
        corr[i][i] = 1.0;
        for (int j = i + 1; j < m; j++) {
            corr[i][j] = 0.0;
            for (int k = 0; k < n; k++)
                corr[i][j] += data[k][i] * data[k][j];
            corr[j][i] = corr[i][j];
        }
    }
    corr[m - 1][m - 1] = 1.0;
#pragma endscop
}
