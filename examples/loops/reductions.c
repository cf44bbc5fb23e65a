/* Sums, extremes and counts: every iteration adds to the same few numbers.
 *
 * Serially their order is fixed.  With "reassociate: true" in the manifest each CPE computes a part, and
 * the host combines the parts in the order of the CPEs.
 */

double dot(int n, double x[restrict n], double y[restrict n])
{
    double sum = 0.0;
#pragma scop
    for (int i = 0; i < n; i++)
        sum += x[i] * y[i];
#pragma endscop
    return sum;
}

void extremes(int m, int n, double a[m][n], double range[2])
{
    double low = a[0][0], high = a[0][0];
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            if (a[i][j] < low)
                low = a[i][j];
            high = a[i][j] > high ? a[i][j] : high;
        }
#pragma endscop
    range[0] = low;
    range[1] = high;
}

/* How many values fall into each of 64 bins; bin[i] says into which one. */
void histogram(int n, int bin[restrict n], long count[restrict 64])
{
#pragma scop
    for (int i = 0; i < n; i++)
        count[bin[i]] += 1;
#pragma endscop
}

/* Sums over windows that move on; each window's weights need the sum of the one before. */
void windows(int m, int n, int sum[restrict m + 8], int x[restrict n])
{
#pragma scop
    for (int t = 0; t < m; t++) {
        for (int i = 0; i < n; i++)
            for (int c = t; c < t + 8; c++)
                sum[c] += x[i] * (c - t + 1);
        x[0] = sum[t] % 7;
    }
#pragma endscop
}

/* Moments of each of four interleaved channels; the loop over the channels alone would keep four CPEs busy. */
void moments(int n, float sample[restrict n][4], float first[restrict 4], float second[restrict 4])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int c = 0; c < 4; c++) {
            first[c] += sample[i][c];
            second[c] += sample[i][c] * sample[i][c];
        }
#pragma endscop
}
