/* `continue` in branches of branches */
void chain(int n, double a[restrict n], const double b[restrict n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        if (b[i] > 0.5)
            a[i] = 1.0;
        else if (b[i] < -0.5)
            continue;
        else
            a[i] = 0.0;
        a[i] += b[i];
    }
#pragma endscop
}

void counters(int n, int m, double a[restrict n][m], const double b[restrict n][m])
{
#pragma scop
    for (int j = 0; j < m; j++) {
        if (j == 3)
            continue;
        if (j < 5)
            a[0][j] = 1.0;
        else if (j == 7)
            continue;
        else if (n > j) {
            if (j % 3 == 1)
                continue;
            a[0][j] = 2.0;
        } else if (j == 9) {
            continue;
        }
        for (int i = 0; i < n; i++)
            a[i][j] += b[i][j];
        if (n + j == 41) {
            if (j < 4)
                continue;
            else if (j > 6)
                a[0][j] *= 2;
        }
        a[0][j] -= 0.25;
    }
#pragma endscop
}

void both(int n, double a[restrict n], const double b[restrict n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        a[i] = 0;
        if (b[i] > 0.25) {
            if (i % 2)
                continue;
            a[i] = 4.0;
        } else {
            if (b[i] < -0.25)
                continue;
            else
                a[i] = 5.0;
        }
        double t = b[i] * 2;
        a[i] += t;
    }
#pragma endscop
}
