#ifndef SWMOCK_ATHREAD_H
#define SWMOCK_ATHREAD_H
#include "swmock.h"
#define SLAVE_FUN(name) name
#define athread_init() ((void)0)
#define athread_spawn(name, argument) swmock_spawn(name, argument)
#define athread_join() ((void)0)
#define athread_halt() ((void)0)
#endif
