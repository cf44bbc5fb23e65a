// row 24, machine sw26010, mode checked, expect SW604 exit 86
#define OWN_MAIN
#include "pitfall.h"
#ifdef SLAVE
void work(struct job *j) {}
#else
int main(void)
{
    athread_init();
    athread_init(); /* HERE */
    return 0;
}
#endif
