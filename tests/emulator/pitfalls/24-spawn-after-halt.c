// row 24, machine sw26010, mode eager checked, expect SW605 exit 86
#define OWN_MAIN
#include "pitfall.h"
#ifdef SLAVE
void work(struct job *j) {}
#else
int main(void)
{
    athread_init();
    athread_halt();
    athread_spawn(work, 0); /* HERE */
    athread_join();
    return 0;
}
#endif
