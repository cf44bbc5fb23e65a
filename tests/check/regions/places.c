/* Places computed ahead, with strides that the function sets before the region. */

void scaled(int m, double *restrict a)
{
    const unsigned width = 3;
    const int twice = 2;
#pragma scop
    for (int j = 0; j < m; j++)
        a[width * j] -= twice;
#pragma endscop
}

void planes(int n, int m, double *restrict a, const double *restrict b)
{
    const int row = m;
    const long plane = (long)n * row;
    long place;
#pragma scop
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < m; k++) {
                place = i * plane + j * row + k;
                a[place] = b[place] + plane;
            }
#pragma endscop
}

void rows(int n, int m, float *restrict a, const float *restrict b)
{
#pragma scop
    for (int i = 1; i < n; i++) {
        float *to = a + i * m;
        const float *from = &b[(i - 1) * m], *next = from + m;
        for (int j = 0; j < m; j++)
            to[j] = from[j] + next[j];
    }
#pragma endscop
}
