// row 16, machine sw26010, mode eager checked, expect SW622 exit 86
#include "pitfall.h"
#ifdef SLAVE
void work(struct job *j)
{
    void *p = ldm_malloc(256);
    ldm_free(p, 128); /* HERE */
}
#endif
