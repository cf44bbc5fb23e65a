/* The CRTS names: the same calls as athread.h (host) and slave.h (slave). */
#ifndef SWEMU_CRTS_H
#define SWEMU_CRTS_H
#pragma GCC system_header
#ifndef __swemu_crts__
#error "crts.h belongs to machines with the interface CRTS"
#endif
#ifdef __swemu_slave__
#include <slave.h>
#else
#include <athread.h>
#endif
#endif
