/* Slave (CPE) side of the athread interface, for both machines. */
#ifndef SWEMU_SLAVE_H
#define SWEMU_SLAVE_H
#pragma GCC system_header

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

extern __thread_local_fix char _CGN, _ROW, _COL, _PEN;
extern __thread_local_fix int _MYID;

#ifndef __swemu_crts__
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
extern int athread_get(dma_mode mode, void *src, void *dest, int len, volatile void *reply, char mask, int stride,
                       int bsize);
extern int athread_put(dma_mode mode, void *src, void *dest, int len, volatile void *reply, int stride, int bsize);
extern int athread_syn(scope scp, int mask);
extern int athread_dma_barrier(void);

extern void *ldm_malloc(size_t size);
extern void ldm_free(void *addr, size_t size);
extern size_t get_allocatable_size(void);

extern unsigned long __swemu_cycles(void);
extern long __swemu_csr(int number);
#define RPCC(x) ((x) = __swemu_cycles())
#define RTC() __swemu_cycles()

extern void __swemu_memb(void);
extern int __swemu_wait_equal(const volatile void *reply, int value);
extern int __swemu_wait_value(const volatile void *reply, int value);
extern long __swemu_fetch_add(volatile void *word, long n, int bytes);
extern void __swemu_reg_send(const void *value, int bytes, int target, int column);
extern void __swemu_reg_receive(void *value, int bytes, int column);

/* Atomics on main memory. */
#define faaw(d, a) ((d) = (int)__swemu_fetch_add((a), 1, 4))
#define faal(d, a) ((d) = __swemu_fetch_add((a), 1, 8))
#define atomic_inc1_w(a) ((int)__swemu_fetch_add((a), 1, 4))
#define atomic_inc1_l(a) (__swemu_fetch_add((a), 1, 8))
#define updt_addw(n, a) ((void)__swemu_fetch_add((a), (n), 4))
#define updt_subw(n, a) ((void)__swemu_fetch_add((a), -(long)(n), 4))
#define updt_addl(n, a) ((void)__swemu_fetch_add((a), (n), 8))
#define updt_subl(n, a) ((void)__swemu_fetch_add((a), -(long)(n), 8))

extern int athread_get_tid(void);
extern int ordered_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

#ifndef __swemu_crts__
/* Register communication: v is a value of up to 32 bytes; target 0..7, or 8 for all others of the row (column). */
#define REG_PUTR(v, target) __extension__({ __typeof__(v) __swemu_v = (v); __swemu_reg_send(&__swemu_v, sizeof __swemu_v, (target), 0); })
#define REG_PUTC(v, target) __extension__({ __typeof__(v) __swemu_v = (v); __swemu_reg_send(&__swemu_v, sizeof __swemu_v, (target), 1); })
#define REG_GETR(v) __swemu_reg_receive(&(v), sizeof(v), 0)
#define REG_GETC(v) __swemu_reg_receive(&(v), sizeof(v), 1)
#else
#include <swemu_slave_pro.h>
#endif

#ifdef __cplusplus
}
#endif
#endif
