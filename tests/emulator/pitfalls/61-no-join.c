// row join, machine sw26010, mode eager late random:3 checked, expect SW608 exit 86
#define OWN_MAIN
#include "pitfall.h"
#ifdef SLAVE
void work(struct job *j)
{
    j->out[_MYID] = 1;
}
#else
int main(void)
{
    static double out[64];
    static struct job job = {0, out, 64};
    athread_init();
    athread_spawn(work, &job); /* HERE */
    return 0;
}
#endif
