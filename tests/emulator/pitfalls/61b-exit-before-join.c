// row join, machine sw26010-pro, mode eager late checked, expect SW608 exit 86
#define OWN_MAIN
#include "pitfall.h"
#ifdef SLAVE
__thread_local volatile int reply = 0;
__thread_local double a[64];
void work(struct job *j)
{
    GET(j->in, a, sizeof a);
    while (reply != 1)
        ;
}
#else
static double in[64];
static struct job job = {in, 0, 64};
static void give_up(void) { exit(0); }
int main(void)
{
    athread_init();
    athread_spawn(work, &job);
    athread_join();
    athread_spawn(work, &job); /* HERE */
    give_up();
    athread_join();
    return 0;
}
#endif
