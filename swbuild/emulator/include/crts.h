/* The CRTS names of the SW26010-Pro: the same calls as athread.h (host) and slave.h (slave). */
#ifndef SWEMU_CRTS_H
#define SWEMU_CRTS_H
#pragma GCC system_header
#if __swemu_machine == 26010
#error "crts.h belongs to the SW26010-Pro"
#endif
#ifdef __swemu_slave__
#include <slave.h>
#else
#include <athread.h>
#endif
#endif
