// row free, machine sw26010-pro, mode eager late checked, expect SW622 exit 86
#include "pitfall.h"
#ifdef SLAVE
void work(struct job *j)
{
    double *a = ldm_malloc(64);
    ldm_free(a, 64);
    ldm_free(a, 64); /* HERE */
}
#endif
