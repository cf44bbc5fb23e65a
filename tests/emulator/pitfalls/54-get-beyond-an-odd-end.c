// row 54, machine sw26010, mode eager late checked, expect SW610 exit 86
#define OWN_MAIN
#include "pitfall.h"
#ifdef SLAVE
__thread_local char text[12];
__thread_local volatile int reply;
void work(struct job *j)
{
    for (int k = 0; k < 12; k++)
        text[k] = 0;
    reply = 0;
    GET(j->in, text, 12); /* HERE */
    while (reply != 1)
        ;
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
    return 0;
}
#endif
