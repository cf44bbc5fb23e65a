#ifndef SWMOCK_SLAVE_H
#define SWMOCK_SLAVE_H
#include "swmock.h"
/* Each program has a section of its own, and the linker tells where it begins and ends. */
#ifndef SWMOCK_LDM
#define SWMOCK_LDM "swmock_ldm"
#endif
#define __thread_local __attribute__((section(SWMOCK_LDM)))
/* the instruction that orders memory accesses, for the assembler: nothing */
__asm__(".macro memb\n.endm");
#define _PEN swmock_pen
#define _MYID swmock_pen
#define _ROW (swmock_pen / 8)
#define _COL (swmock_pen % 8)
#define athread_get(mode, from, to, length, reply, mask, stride, block) \
    swmock_get(from, to, length, reply, stride, block)
#define athread_put(mode, from, to, length, reply, stride, block) \
    swmock_put(from, to, length, reply, stride, block)
/* the names of the newer machine: destination first, the gap last */
#define athread_dma_iget(to, from, length, reply) swmock_get(from, to, length, (void *)(reply), 0, 0)
#define athread_dma_iput(to, from, length, reply) swmock_put(from, to, length, (void *)(reply), 0, 0)
#define athread_dma_iget_stride(to, from, length, block, stride, reply) \
    swmock_get(from, to, length, (void *)(reply), stride, block)
#define athread_dma_iput_stride(to, from, length, block, stride, reply) \
    swmock_put(from, to, length, (void *)(reply), stride, block)
#define athread_dma_wait_value(reply, value) swmock_wait((void *)(reply), value)
#define ARRAY_SCOPE 2
#define athread_syn(scope, mask) swmock_barrier()
#define athread_ssync_array() swmock_barrier()
#define athread_rma_row_bcast(to, from, length, reply) swmock_bcast(1, to, from, length, (void *)(reply))
#define athread_rma_col_bcast(to, from, length, reply) swmock_bcast(2, to, from, length, (void *)(reply))
#define athread_rma_bcast(to, from, length, reply) swmock_bcast(3, to, from, length, (void *)(reply))
#define athread_rma_row_ibcast(to, from, length, sent, reply) \
    swmock_ibcast(1, to, from, length, (void *)(sent), (void *)(reply))
#define athread_rma_col_ibcast(to, from, length, sent, reply) \
    swmock_ibcast(2, to, from, length, (void *)(sent), (void *)(reply))
#define athread_rma_ibcast(to, from, sent, length, reply) \
    swmock_ibcast(3, to, from, length, (void *)(sent), (void *)(reply))
#define athread_rma_wait_value(reply, value) swmock_arrived((void *)(reply), value)
typedef volatile long athread_rply_t;
typedef volatile int crts_rply_t;
#endif
