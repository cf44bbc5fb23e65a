/* C = A B on the 8 x 8 mesh.  CPE (row, col) owns one tile of each matrix.  In step k column k hands its
 * tiles of A along the rows and row k its tiles of B along the columns, 32 bytes at a time. */
#include <slave.h>
#include <simd.h>
#include "gemm.h"

__thread_local double a[TILE][TILE] __attribute__((aligned(32)));
__thread_local double b[TILE][TILE] __attribute__((aligned(32)));
__thread_local double c[TILE][TILE] __attribute__((aligned(32)));
__thread_local double from_row[TILE][TILE] __attribute__((aligned(32)));
__thread_local double from_column[TILE][TILE] __attribute__((aligned(32)));
__thread_local volatile int reply;

static void get_tile(double *matrix, double tile[TILE][TILE])
{
    reply = 0;
    athread_get(PE_MODE, matrix + (_ROW * TILE) * N + _COL * TILE, tile, TILE * TILE * sizeof(double), (void *)&reply, 0,
                (N - TILE) * sizeof(double), TILE * sizeof(double));
    while (reply != 1)
        ;
}

/* The owner's tile goes to all others of its row. */
static void share_in_row(double tile[TILE][TILE], double copy[TILE][TILE], int owner)
{
    int k;
    doublev4 v;
    for (k = 0; k < TILE * TILE; k += 4) {
        if (_COL == owner) {
            simd_load(v, &tile[0][0] + k);
            simd_putr(v, 8);
        } else {
            v = simd_getr(v);
        }
        simd_store(v, &copy[0][0] + k);
    }
}

static void share_in_column(double tile[TILE][TILE], double copy[TILE][TILE], int owner)
{
    int k;
    doublev4 v;
    for (k = 0; k < TILE * TILE; k += 4) {
        if (_ROW == owner) {
            simd_load(v, &tile[0][0] + k);
            simd_putc(v, 8);
        } else {
            v = simd_getc(v);
        }
        simd_store(v, &copy[0][0] + k);
    }
}

static void multiply(void)
{
    int i, j, k;
    for (i = 0; i < TILE; i++)
        for (k = 0; k < TILE; k++)
            for (j = 0; j < TILE; j++)
                c[i][j] += from_row[i][k] * from_column[k][j];
}

void gemm(struct gemm *g)
{
    int i, j, step;
    get_tile(g->a, a);
    get_tile(g->b, b);
    for (i = 0; i < TILE; i++)
        for (j = 0; j < TILE; j++)
            c[i][j] = 0;
    for (step = 0; step < MESH; step++) {
        share_in_row(a, from_row, step);
        share_in_column(b, from_column, step);
        multiply();
        athread_syn(ARRAY_SCOPE, 0xffff); /* no message of the next step may overtake one of this */
    }
    reply = 0;
    athread_put(PE_MODE, c, g->c + (_ROW * TILE) * N + _COL * TILE, sizeof c, (void *)&reply,
                (N - TILE) * sizeof(double), TILE * sizeof(double));
    while (reply != 1)
        ;
}
