// row join, machine sw26010, mode eager late checked, expect SW608 exit 86
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
    athread_create(3, work, &job);
    athread_create(5, work, &job); /* HERE */
    athread_wait(3);
    return 0;
}
#endif
