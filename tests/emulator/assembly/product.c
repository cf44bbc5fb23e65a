/* Calls a kernel for products of matrices that are spread over the mesh, and compares it with a plain loop.
 * Compiled with -DKERNEL=name -DREAL=type -DSIGN=+1 or -1 for what is added, and -DTRANSPOSED=1 where the second
 * factor lies by columns.  CPE (row, column) has block (k column, m row) of the first factor, block (k row,
 * n column) of the second one, and block (n column, m row) of the sum. */
enum { M = 16, N = 8, K = 8, MESH = 8 };
struct job {
    REAL a[MESH * K][MESH * M], b[MESH * N][MESH * K], c[MESH * N][MESH * M];
};

#ifdef SLAVE
#include <slave.h>
extern void KERNEL(REAL *a, REAL *b, REAL *c, int m, int ld, int n, int k, int row, int column);
__thread_local REAL a[K][M] __attribute__((aligned(32)));
#if TRANSPOSED
__thread_local REAL b[K][N] __attribute__((aligned(32)));
#else
__thread_local REAL b[N][K] __attribute__((aligned(32)));
#endif
__thread_local REAL c[N][M] __attribute__((aligned(32)));

void work(struct job *j)
{
    const int row = _MYID / MESH, column = _MYID % MESH;
    for (int k = 0; k < K; k++)
        for (int m = 0; m < M; m++)
            a[k][m] = j->a[column * K + k][row * M + m];
    for (int n = 0; n < N; n++)
        for (int k = 0; k < K; k++)
#if TRANSPOSED
            b[k][n] = j->b[column * N + n][row * K + k];
#else
            b[n][k] = j->b[column * N + n][row * K + k];
#endif
    for (int n = 0; n < N; n++)
        for (int m = 0; m < M; m++)
            c[n][m] = j->c[column * N + n][row * M + m];
    KERNEL(&a[0][0], &b[0][0], &c[0][0], M / 4, M / 4, N, K, row, column);
    for (int n = 0; n < N; n++)
        for (int m = 0; m < M; m++)
            j->c[column * N + n][row * M + m] = c[n][m];
}
#else
#include <athread.h>
#include <stdio.h>
extern void SLAVE_FUN(work)(struct job *);
static struct job job;

int main(void)
{
    static REAL expected[MESH * N][MESH * M];
    for (int k = 0; k < MESH * K; k++)
        for (int m = 0; m < MESH * M; m++)
            job.a[k][m] = (k * 7 + m * 3) % 11 - 5;
    for (int n = 0; n < MESH * N; n++)
        for (int k = 0; k < MESH * K; k++)
            job.b[n][k] = (n * 5 + k) % 13 - 6;
    for (int n = 0; n < MESH * N; n++)
        for (int m = 0; m < MESH * M; m++) {
            expected[n][m] = job.c[n][m] = (n + m) % 7;
            for (int k = 0; k < MESH * K; k++)
                expected[n][m] += SIGN job.a[k][m] * job.b[n][k];
        }
    athread_init();
    athread_spawn(work, &job);
    athread_join();
    int wrong = 0;
    for (int n = 0; n < MESH * N; n++)
        for (int m = 0; m < MESH * M; m++)
            wrong += job.c[n][m] != expected[n][m];
    printf("%d wrong, c[3][5] is %g, not %g\n", wrong, (double)job.c[3][5], (double)expected[3][5]);
    athread_halt();
    return wrong != 0;
}
#endif
