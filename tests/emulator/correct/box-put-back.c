// machine sw26010 sw26010-pro
// Every CPE fetches a box that overlaps the next one's, changes odd elements, and puts the whole box back.
#define RESULT (k % 2)
#include "pitfall.h"
#ifdef SLAVE
enum { OWN = 4, BOX = OWN + 1 };
__thread_local double box[BOX];
__thread_local volatile int reply;
void work(struct job *j)
{
    double *at = j->out + OWN * _MYID, sum = 0;
    reply = 0;
    GET(at, box, sizeof box);
    while (reply != 1)
        ;
    for (int i = 0; i < BOX; i += 2)
        sum += box[i];
    for (int i = 1; i < BOX; i += 2)
        box[i] += 1 + sum;
    PUT(box, at, sizeof box);
    while (reply != 2)
        ;
}
#endif
