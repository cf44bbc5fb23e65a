// row 25, machine sw26010, mode link, expect multiple-definition exit 1
#include "pitfall.h"
#ifdef SLAVE
void work(struct job *j) {}
#else
void slave_work(struct job *j) {}
#endif
