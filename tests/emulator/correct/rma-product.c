// machine sw26010-pro
// A product of matrices: rows and columns of CPEs broadcast in turn, into two buffers, a barrier for each step.
#define RESULT (8 * 4 * 2 * (k / 8 + 1) * (k % 8 + 1))
#include "pitfall.h"
#ifdef SLAVE
__thread_local double a[16], b[16], left[2][16], above[2][16], c[16];
__thread_local volatile int got_left = 0, got_above = 0, sent = 0;
void work(struct job *j)
{
    for (int i = 0; i < 16; i++) {
        a[i] = _ROW + 1;
        b[i] = 2 * (_COL + 1);
        c[i] = 0;
    }
    athread_ssync_array();
    for (int k = 0; k < 8; k++) {
        if (_COL == k)
            athread_rma_row_ibcast(left[k % 2], a, sizeof a, &sent, &got_left);
        if (_ROW == k)
            athread_rma_col_ibcast(above[k % 2], b, sizeof b, &sent, &got_above);
        athread_rma_wait_value(&got_left, k + 1);
        athread_rma_wait_value(&got_above, k + 1);
        for (int i = 0; i < 4; i++)
            for (int l = 0; l < 4; l++)
                for (int m = 0; m < 4; m++)
                    c[4 * i + l] += left[k % 2][4 * i + m] * above[k % 2][4 * m + l];
        athread_ssync_array();
    }
    athread_rma_barrier();
    j->out[_MYID] = c[5];
}
#endif
