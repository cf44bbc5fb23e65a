/* C = A B on the 8 x 8 mesh.  CPE (row, col) owns one tile of each matrix.  In step k column k broadcasts
 * its tiles of A along the rows and row k its tiles of B along the columns.  There are two buffers of
 * each: while the tiles of step k are multiplied, those of step k + 1 arrive. */
#include <slave.h>
#include "gemm.h"

__thread_local double a[TILE][TILE] __attribute__((aligned(64)));
__thread_local double b[TILE][TILE] __attribute__((aligned(64)));
__thread_local double c[TILE][TILE] __attribute__((aligned(64)));
__thread_local double from_row[2][TILE][TILE] __attribute__((aligned(64)));
__thread_local double from_column[2][TILE][TILE] __attribute__((aligned(64)));
__thread_local crts_rply_t arrived[2], sent, loaded;

/* Start the broadcasts of a step; everybody has set the reply word of its buffer to 0 before. */
static void start(int step)
{
    int to = step % 2;
    if (_COL == step)
        athread_rma_row_ibcast(from_row[to], a, sizeof a, &sent, &arrived[to]);
    if (_ROW == step)
        athread_rma_col_ibcast(from_column[to], b, sizeof b, &sent, &arrived[to]);
}

static void multiply(double x[TILE][TILE], double y[TILE][TILE])
{
    for (int i = 0; i < TILE; i++)
        for (int k = 0; k < TILE; k++)
            for (int j = 0; j < TILE; j++)
                c[i][j] += x[i][k] * y[k][j];
}

void gemm(struct gemm *g)
{
    long place = (_ROW * TILE) * N + _COL * TILE;
    int row_bytes = TILE * sizeof(double), gap = (N - TILE) * sizeof(double);
    loaded = sent = arrived[0] = arrived[1] = 0;
    athread_dma_iget_stride(a, g->a + place, sizeof a, row_bytes, gap, &loaded);
    athread_dma_iget_stride(b, g->b + place, sizeof b, row_bytes, gap, &loaded);
    for (int i = 0; i < TILE; i++)
        for (int j = 0; j < TILE; j++)
            c[i][j] = 0;
    athread_dma_wait_value(&loaded, 2);
    athread_ssync_array();
    start(0);
    for (int step = 0; step < MESH; step++) {
        int now = step % 2;
        athread_rma_wait_value(&arrived[now], 2);
        if (step + 1 < MESH) {
            arrived[1 - now] = 0;
            athread_ssync_array(); /* all have done with the other buffer and have set its reply word */
            start(step + 1);
        }
        multiply(from_row[now], from_column[now]);
    }
    athread_rma_wait_value(&sent, 2);
    athread_dma_put_stride(g->c + place, c, sizeof c, row_bytes, gap);
}
