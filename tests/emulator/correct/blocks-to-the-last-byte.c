// machine sw26010 sw26010-pro
// Blocks of ldm_malloc, of odd sizes too, used to their ends, freed and given again; a get fills one exactly.
#define RESULT (36 + 63 + 7)
#include "pitfall.h"
#ifdef SLAVE
__thread_local volatile int reply;
void work(struct job *j)
{
    double last = 0;
    for (int k = 0; k < 20; k++) {
        char *text = ldm_malloc(37);
        double *a = ldm_malloc(64 * 8), *b = ldm_malloc(8 + 64 * (k % 3)), *c = ldm_malloc(64);
        for (int i = 0; i < 37; i++)
            text[i] = i;
        for (int i = 0; i <= 8 * (k % 3); i++)
            b[i] = i;
        ldm_free(b, 8 + 64 * (k % 3));
        b = ldm_malloc(64);
        for (int i = 0; i < 8; i++)
            b[i] = c[i] = i;
        reply = 0;
        GET(j->in, a, 64 * 8);
        while (reply != 1)
            ;
        last = text[36] + a[63] + b[7] + 0 * c[7];
        ldm_free(a, 64 * 8);
        ldm_free(c, 64);
        ldm_free(text, 37);
        ldm_free(b, 64);
    }
    j->out[_MYID] = last;
}
#endif
