/* Host (MPE) side of the athread interface, for both machines. */
#ifndef SWEMU_ATHREAD_H
#define SWEMU_ATHREAD_H
#pragma GCC system_header

#ifdef __swemu_slave__
#ifndef __swemu_crts__
#error "athread.h belongs to host code: slave code includes slave.h"
#endif
#include <slave.h>
#else
#include <stddef.h>
/* As the machines' header does, and programs rely on it. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SLAVE_FUN(x) slave_##x

extern int athread_init(void);
extern int athread_join(void);
extern int athread_wait(int id);
extern int athread_end(int id);
extern int athread_get_max_threads(void);
extern int athread_set_num_threads(int num);
extern int athread_get_num_threads(void);
extern int __real_athread_create(int id, void *func, void *arg);
extern int athread_cancel(int id);

#ifndef __swemu_crts__
#define HLINE "==================================================================\n" /* programs print it */
extern int athread_halt(void);
extern int __real_athread_spawn(void *func, void *arg);
extern int __real_athread_spawn_group(unsigned long mask, void *func, void *arg);
extern int athread_join_group(unsigned long mask);
extern int athread_try_join_group(unsigned long mask);
extern unsigned long athread_idle_group(void);
extern unsigned long athread_idle(void);
#define athread_spawn(f, a) __real_athread_spawn((void *)slave_##f, (void *)(a))
/* The host's view of the __thread_local variable of one CPE, which it declares as `extern __thread`. */
extern unsigned long __swemu_host_view(const volatile void *own, int pe, int group);
#define h2ldm(var, pe, group) (*(__typeof__(var) *)__swemu_host_view(&(var), (pe), (group)))
#define IO_addr(var, pe, group) __swemu_host_view(&(var), (pe), (group))
extern void *malloc_cross(size_t size);
#define athread_spawn_group(m, f, a) __real_athread_spawn_group((m), (void *)slave_##f, (void *)(a))
#define athread_create(i, f, a) __real_athread_create((i), (void *)slave_##f, (void *)(a))
#else
extern int __real_athread_spawn(void *func, void *arg, int flush_slave_dcache);
extern int CRTS_init(void);
extern unsigned long athread_idle(void);
extern int current_array_id(void);
#define athread_halt() do { } while (0)
#ifdef __cplusplus
#define athread_spawn(f, a) __real_athread_spawn((void *)(f), (void *)(a), 1)
#define athread_spawn_noflush(f, a) __real_athread_spawn((void *)(f), (void *)(a), 0)
#define athread_create(i, f, a) __real_athread_create((i), (void *)(f), (void *)(a))
#else
#define athread_spawn(f, a) __real_athread_spawn((void *)slave_##f, (void *)(a), 1)
#define athread_spawn_noflush(f, a) __real_athread_spawn((void *)slave_##f, (void *)(a), 0)
#define athread_create(i, f, a) __real_athread_create((i), (void *)slave_##f, (void *)(a))
#endif
extern int athread_sync_master_array(void);
extern int athread_mutex_lock(volatile long *lock);
extern int athread_mutex_unlock(volatile long *lock);
extern int athread_mutex_trylock(volatile long *lock);
extern unsigned long __swemu_cycles(void);
#define athread_time_cycle() __swemu_cycles()
#define CRTS_time_cycle() __swemu_cycles()
#define libc_aligned_malloc(size) __builtin_aligned_alloc(64, ((size) + 63) / 64 * 64)
#define libc_uncached_malloc(size) __builtin_malloc(size)
#define _sw_xmalloc(size) __builtin_malloc(size)
#define _sw_xfree(p) __builtin_free(p)
#define cross_malloc(size) __builtin_malloc(size)
/* Several core groups in one process are not emulated. */
#define __swemu_one_group __attribute__((error("one process has one core group here: start one MPI rank for each")))
extern int athread_init_cgs(void) __swemu_one_group;
extern int athread_init_all(void) __swemu_one_group;
extern int __real_athread_spawn_cgs(void *func, void *arg, int flush) __swemu_one_group;
extern int __real_athread_spawn_all(void *func, void *arg, int flush) __swemu_one_group;
extern int athread_join_cgs(void) __swemu_one_group;
extern int athread_join_all(void) __swemu_one_group;
#define athread_spawn_cgs(f, a) __real_athread_spawn_cgs((void *)slave_##f, (void *)(a), 1)
#define athread_spawn_all(f, a) __real_athread_spawn_all((void *)slave_##f, (void *)(a), 1)
#define CRTS_athread_spawn athread_spawn
#define CRTS_athread_join athread_join
#define CRTS_athread_halt() athread_halt()
#define CRTS_athread_create athread_create
#define CRTS_athread_wait athread_wait
#define CRTS_athread_end athread_end
#endif

#ifdef __cplusplus
}
#endif
#endif
#endif
