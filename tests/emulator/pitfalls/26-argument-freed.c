// row 26, machine sw26010, mode checked, expect SW610 exit 86
#define OWN_MAIN
#include "pitfall.h"
#ifdef SLAVE
__thread_local struct job mine;
__thread_local volatile int reply;
void work(struct job *j)
{
    reply = 0;
    GET(j, &mine, sizeof mine); /* HERE */
    while (reply != 1)
        ;
}
#else
int main(void)
{
    athread_init();
    struct job *job = malloc(4096);
    struct job *behind = malloc(4096);
    free(job);
    athread_spawn(work, job);
    athread_join();
    free(behind);
    return 0;
}
#endif
