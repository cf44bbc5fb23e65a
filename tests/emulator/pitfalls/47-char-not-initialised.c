// row char, machine sw26010-pro, mode checked, expect SW663 exit 86
#include "pitfall.h"
#ifdef SLAVE
__thread_local char text[64];
void work(struct job *j)
{
    for (int i = 0; i < 60; i++)
        text[i] = (char)i;
    int sum = 0;
    for (int i = 0; i < 64; i++)
        sum += text[i]; /* HERE */
    j->out[_MYID] = sum;
}
#endif
