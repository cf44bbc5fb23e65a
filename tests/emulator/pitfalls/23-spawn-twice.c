// row 23, machine sw26010, mode eager checked, expect SW606 exit 86
#define OWN_MAIN
#include "pitfall.h"
#ifdef SLAVE
__thread_local volatile int reply = 0;
void work(struct job *j)
{
    while (((volatile struct job *)j)->n == 0)
        ;
}
#else
int main(void)
{
    static struct job job = {0, 0, 0};
    athread_init();
    athread_spawn(work, &job);
    athread_spawn(work, &job); /* HERE */
    athread_join();
    return 0;
}
#endif
