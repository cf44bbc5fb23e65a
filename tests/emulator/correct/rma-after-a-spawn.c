// machine sw26010-pro
// What one kernel leaves in the LDM, CPEs of the next get from one another.
#define OWN_MAIN
#include "pitfall.h"
#ifdef SLAVE
__thread_local double mine[8], got[8];
__thread_local volatile int mail;
void work(struct job *j)
{
    for (int i = 0; i < 8; i++)
        mine[i] = j->n * _MYID;
}
void exchange(struct job *j)
{
    athread_rma_get(got, sizeof got, 63 - _MYID, mine, &mail);
    j->out[_MYID] = got[5];
}
#else
extern void SLAVE_FUN(exchange)(struct job *);
int main(void)
{
    static double out[64];
    struct job job = {0, out, 3};
    athread_init();
    for (int k = 0; k < 3; k++) {
        job.n = k + 3;
        athread_spawn(work, &job);
        athread_join();
        athread_spawn(exchange, &job);
        athread_join();
    }
    for (int k = 0; k < 64; k++)
        if (out[k] != 5 * (63 - k))
            return 1;
    return 0;
}
#endif
