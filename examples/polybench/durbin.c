/* Levinson and Durbin's recursion: y solves the Yule-Walker equations of the Toeplitz matrix with the
   autocorrelations 1, r[0], r[1], ...; z is work space. */

void durbin(int n, double r[restrict n], double y[restrict n], double z[restrict n])
{
#pragma scop
    double alpha = -r[0], beta = 1.0;
    y[0] = -r[0];
    for (int k = 1; k < n; k++) {
        double sum = 0.0;
        beta = (1.0 - alpha * alpha) * beta;
        for (int i = 0; i < k; i++)
            sum += r[k - i - 1] * y[i];
        alpha = -(r[k] + sum) / beta;
        for (int i = 0; i < k; i++)
            z[i] = y[i] + alpha * y[k - i - 1];
        for (int i = 0; i < k; i++)
            y[i] = z[i];
        y[k] = alpha;
    }
#pragma endscop
}
