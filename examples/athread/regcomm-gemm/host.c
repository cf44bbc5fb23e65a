/* C = A B on one core group of an SW26010: host side. */
#include <athread.h>
#include <stdio.h>
#include <stdlib.h>
#include "gemm.h"

extern void SLAVE_FUN(gemm)(struct gemm *);

static double value(int i, int j) { return (double)((i * 37 + j * 11) % 29) / 7 - 2; }

int main(void)
{
    struct gemm g;
    int i, j, k, wrong = 0;
    g.a = malloc(N * N * sizeof(double));
    g.b = malloc(N * N * sizeof(double));
    g.c = malloc(N * N * sizeof(double));
    for (i = 0; i < N; i++)
        for (j = 0; j < N; j++) {
            g.a[i * N + j] = value(i, j);
            g.b[i * N + j] = value(j + 3, i);
            g.c[i * N + j] = -1;
        }
    athread_init();
    athread_spawn(gemm, &g);
    athread_join();
    athread_halt();
    for (i = 0; i < N; i++)
        for (j = 0; j < N; j++) {
            double sum = 0;
            for (k = 0; k < N; k++)
                sum += g.a[i * N + k] * g.b[k * N + j];
            wrong += sum != g.c[i * N + j];
        }
    printf("gemm %d x %d: %d wrong\n", N, N, wrong);
    return wrong != 0;
}
