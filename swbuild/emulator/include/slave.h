/* Slave (CPE) side of the athread interface, for both machines. */
#ifndef SWEMU_SLAVE_H
#define SWEMU_SLAVE_H

#ifndef __swemu_slave__
#error "slave.h belongs to slave code: compile this file with -mslave (-slave), or include athread.h"
#endif
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

extern __thread_local_fix char _CGN, _ROW, _COL, _PEN;
extern __thread_local_fix int _MYID;

#if __swemu_machine == 26010
typedef enum { PE_MODE, BCAST_MODE, ROW_MODE, BROW_MODE, RANK_MODE } dma_mode;
typedef enum { ROW_SCOPE, COL_SCOPE, ARRAY_SCOPE } scope;
extern int athread_get_id(int core);
extern int athread_get_core(int id);
#else
typedef enum { PE_MODE = 0, COL_MODE = 2 } dma_mode;
typedef enum { ROW_SCOPE, COL_SCOPE, ARRAY_SCOPE, PP_SCOPE } scope;
typedef volatile int crts_rply_t;
typedef volatile long athread_rply_t;
#endif

/* len bytes per CPE; the memory side moves bsize bytes and skips stride bytes, the LDM side is packed. */
extern int athread_get(dma_mode mode, void *src, void *dest, int len, void *reply, char mask, int stride,
                       int bsize);
extern int athread_put(dma_mode mode, void *src, void *dest, int len, void *reply, int stride, int bsize);
extern int athread_syn(scope scp, int mask);
extern int athread_dma_barrier(void);

extern void *ldm_malloc(size_t size);
extern void ldm_free(void *addr, size_t size);
extern size_t get_allocatable_size(void);

extern unsigned long __swemu_cycles(void);
#define RPCC(x) ((x) = __swemu_cycles())
#define RTC() __swemu_cycles()

#if __swemu_machine != 26010
extern int __swemu_dma(int put, int wait, void *dst, void *src, int len, void *reply, int bsize, int stride);
#define athread_dma_get(dst, src, len) __swemu_dma(0, 1, (void *)(dst), (void *)(src), (len), 0, 0, 0)
#define athread_dma_put(dst, src, len) __swemu_dma(1, 1, (void *)(dst), (void *)(src), (len), 0, 0, 0)
#define athread_dma_get_stride(dst, src, len, bsize, stride) \
    __swemu_dma(0, 1, (void *)(dst), (void *)(src), (len), 0, (bsize), (stride))
#define athread_dma_put_stride(dst, src, len, bsize, stride) \
    __swemu_dma(1, 1, (void *)(dst), (void *)(src), (len), 0, (bsize), (stride))
#define athread_dma_iget(dst, src, len, rply) \
    __swemu_dma(0, 0, (void *)(dst), (void *)(src), (len), (void *)(rply), 0, 0)
#define athread_dma_iput(dst, src, len, rply) \
    __swemu_dma(1, 0, (void *)(dst), (void *)(src), (len), (void *)(rply), 0, 0)
#define athread_dma_iget_stride(dst, src, len, bsize, stride, rply) \
    __swemu_dma(0, 0, (void *)(dst), (void *)(src), (len), (void *)(rply), (bsize), (stride))
#define athread_dma_iput_stride(dst, src, len, bsize, stride, rply) \
    __swemu_dma(1, 0, (void *)(dst), (void *)(src), (len), (void *)(rply), (bsize), (stride))
extern int __swemu_wait_value(const volatile void *reply, int value);
#define athread_dma_wait_value(rply, value) __swemu_wait_value((rply), (value))
extern int athread_ssync_array(void);
#endif

#ifdef __cplusplus
}
#endif
#endif
