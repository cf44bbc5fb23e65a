/* The hardware's performance counters: there are none here, and -lswperf makes its functions do nothing. */
#ifndef SWEMU_SWPERF_H
#define SWEMU_SWPERF_H
#pragma GCC system_header
#endif
