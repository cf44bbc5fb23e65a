// row 24, machine sw26010, mode eager checked, expect SW604 exit 86
#define OWN_MAIN
#include "pitfall.h"
#ifdef SLAVE
void work(struct job *j) { (void)j; }
#else
#include <pthread.h>
static void *other(void *unused)
{
    (void)unused;
    athread_init(); /* HERE */
    return NULL;
}
int main(void)
{
    pthread_t thread;
    athread_init();
    pthread_create(&thread, NULL, other, NULL);
    pthread_join(thread, NULL);
    return 0;
}
#endif
