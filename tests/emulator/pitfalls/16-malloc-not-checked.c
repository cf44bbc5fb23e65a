// row 16, machine sw26010, mode eager checked, expect SW616 exit 86
#include "pitfall.h"
#ifdef SLAVE
__thread_local volatile int reply = 0;
void work(struct job *j)
{
    double *p = ldm_malloc(70000); /* more than there is: null */
    GET(j->in, p, 64); /* HERE */
}
#endif
