// machine sw26010 sw26010-pro
// A get of whole words takes in the rest of the word in which a block of memory ends.
#define OWN_MAIN
#include "pitfall.h"
#ifdef SLAVE
__thread_local char text[8];
__thread_local volatile int reply;
void work(struct job *j)
{
    reply = 0;
    GET(j->in, text, 8);
    while (reply != 1)
        ;
    j->out[_MYID] = text[0] + text[4];
}
#else
int main(void)
{
    struct job job = {malloc(5), malloc(64 * sizeof(double)), 5};
    for (int k = 0; k < 5; k++)
        ((char *)job.in)[k] = (char)(3 * k);
    athread_init();
    athread_spawn(work, &job);
    athread_join();
    for (int k = 0; k < 64; k++)
        if (job.out[k] != 12)
            return printf("out[%d] is %g\n", k, job.out[k]), 1;
    return 0;
}
#endif
