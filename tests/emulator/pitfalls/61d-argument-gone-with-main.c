// row join, machine sw26010-pro, mode eager late, expect SW608 exit 86
#define OWN_MAIN
#include "pitfall.h"
#ifdef SLAVE
__thread_local double sum = 0;
void work(struct job *j)
{
    for (int i = 0; i < j->n; i++)
        sum += j->in[i];
}
#else
static void start(double *in)
{
    struct job job = {in, 0, 32};
    athread_spawn(work, &job); /* HERE */
}
int main(void)
{
    static double in[32];
    athread_init();
    start(in);
    return 0;
}
#endif
