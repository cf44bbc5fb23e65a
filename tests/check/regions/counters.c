/* `for` loops with two counters */
void reversed(int n, double a[restrict n], const double b[restrict n])
{
    int i, j;
#pragma scop
    for (i = 0, j = n - 1; i < n; i++, j--)
        a[i] = b[j];
#pragma endscop
}

int pairs(int n, double a[restrict n], const double b[restrict 2 * n])
{
    int i, j;
#pragma scop
    for (j = 3, i = 0; i < n; ++i, j += 2)
        a[i] = b[j - 3] + b[j - 2];
#pragma endscop
    return 100 * i + j;
}

int moving(int n, double a[restrict n], const double b[restrict n])
{
    int j = 0;
#pragma scop
    for (int i = 0; i < n; i += 3, j++) {
        j += i / 8;
        a[i] = b[i] + j;
    }
#pragma endscop
    return j;
}

long packed(int n, int m, double a[restrict n][m], const double b[restrict n * m])
{ /* the places in b are not seen to be i * m + j */
    long k;
    int i, j;
#pragma scop
    for (k = 0, i = 0; i < n; i++)
        for (j = 0; j < m; j++, k++)
            a[i][j] = b[k] * 0.5;
#pragma endscop
    return k;
}

void declared(int n, double a[restrict n], const double b[restrict 3 * n])
{
#pragma scop
    for (int i = n - 1, j = 0, k = 1; i >= 0; i--, j += 3, k++) {
        if (i == 4)
            continue;
        a[i] = b[j] + k;
    }
#pragma endscop
}

void down(unsigned long n, double a[restrict n], const double b[restrict n])
{
#pragma scop
    for (unsigned long i = n; i-- > 0;)
        a[i] = b[i] + i;
#pragma endscop
}

int steps(int n, double a[restrict n], const double b[restrict n])
{
    int i, j, k;
#pragma scop
    for (i = n; --i >= 0;)
        a[i] = b[i];
    for (j = n; j--;)
        a[j] += j;
    for (k = 3; k++ < n;)
        for (int l = 4; l-- > 0;)
            a[k - 1] *= b[l];
#pragma endscop
    return i;
}
