#include <stdio.h>

enum { N = 3, M = 4 };
static double twice(double v) { return v * 2 + M; }
static double half(double v) { return v / 2; }

void calls(int n, double *restrict x)
{
#pragma scop
    for (int i = 0; i < n; i++)
        x[i] = twice(i) + half(i) + N;
#pragma endscop
}

void one_of_them(int n, double *restrict x)
{
#pragma scop
    for (int i = 0; i < n; i++)
        x[i] += twice(i);
#pragma endscop
}

void parameter(int n, int N, double x[n][N])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < N; j++)
            x[i][j] += N + M;
#pragma endscop
}

void blocks(double *restrict x)
{
    enum { N = 9, M = 2 };
    int w = N;
#pragma scop
    for (int i = 0; i < N; i++)
        x[i] += N + M + w;
    for (int i = 0; i < N; i++) {
        enum { N = 5 };
        x[i] += N;
    }
#pragma endscop
}

void constants(int n, double *restrict x)
{
    const unsigned char narrow = 300;
    const long wide = -1u;
    const long wrapped = 0xffffffff + 1;
    const signed char sign = 200;
    const _Bool flag = 5;
#pragma scop
    for (int i = 0; i < n; i++)
        x[i] += narrow + wide + wrapped + sign + flag;
    for (int i = 0; i < narrow; i++)
        x[i] += 1;
    for (int i = 0; i < wrapped + flag; i++)
        x[i] += 1;
#pragma endscop
}

double x[100];

int main(void)
{
    calls(77, x);
    one_of_them(77, x);
    parameter(10, 5, (void *)x);
    blocks(x);
    constants(77, x);
    for (int i = 0; i < 100; i++)
        printf("%.17g\n", x[i]);
    return 0;
}
