// row 18, machine sw26010-pro, mode eager checked, expect SW640 exit 87
#define OWN_MAIN
#include "pitfall.h"
#ifdef SLAVE
void work(struct job *j)
{
    athread_ssync_array(); /* HERE */
}
#else
int main(void)
{
    struct job job = {0, 0, 0};
    athread_init();
    athread_set_num_threads(16);
    athread_spawn(work, &job);
    athread_join();
    return 0;
}
#endif
