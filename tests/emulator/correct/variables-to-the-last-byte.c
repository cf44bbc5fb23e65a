// machine sw26010 sw26010-pro
// Variables of many sizes and kinds, used and transferred to their ends; rows of a matrix as one stretch.
#define RESULT (4 + 5 + 20 + 31 + 2.5 + 9)
#include "pitfall.h"
#ifdef SLAVE
#include <string.h>
__thread_local char text[5] = {0, 1, 2, 3, 4}, more[3];
__thread_local short halves[7];
static __thread_local double matrix[4][8], copy[4][8] __attribute__((aligned(64)));
__thread_local struct { char c; double d[3]; short s; } record, records[2];
__thread_local volatile int replies[2];
#define reply replies[1]
static double own(int k)
{
    static __thread_local double kept[4];
    kept[k % 4] = k;
    return kept[k % 4];
}
void work(struct job *j)
{
    double *flat = &matrix[0][0];
    memset(more, 5, sizeof more);
    for (int i = 0; i < 7; i++)
        halves[i] = 20;
    record.c = 1;
    record.d[0] = record.d[1] = 0;
    record.d[2] = 2.5;
    record.s = 7;
    records[1] = record;
    reply = replies[0] = 0;
    GET(j->in, matrix, sizeof matrix);
    while (reply != 1)
        ;
    memcpy(copy, matrix, sizeof copy);
    j->out[_MYID] = text[4] + more[2] + halves[6] + flat[31] + 0 * copy[3][7] + records[1].d[2] + own(9);
}
#endif
