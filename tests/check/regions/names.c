/* Names that mean two things: a parameter called like its function, or like a type that another one's size names. */

typedef double row[3];
typedef int width;
width apply(width (*f)(int width, row r), width, row);

void stride(int m, int n, int stride, const double *a, double *restrict b)
{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            b[i * n + j] = 2 * a[i * stride + j];
#pragma endscop
}

void hidden(int row, int width, double b[row][width])
{
#pragma scop
    for (int i = 0; i < row; i++)
        for (int j = 0; j < width; j++)
            b[i][j] += i * width + j;
#pragma endscop
}

void seen(int n, row *restrict a, row b)
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (width j = 0; j < 3; j++)
            a[i][j] += b[j];
#pragma endscop
}
