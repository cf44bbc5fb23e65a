/* The CPEs' side of the calls of a chip that does not exist, by those that the emulator has. */
#ifndef MESH_CORE_H
#define MESH_CORE_H
#ifndef __tern_slave__
#error "mesh_core.h is for CPEs"
#endif
#include <slave.h>

#define MESH_LDM __thread_local
typedef volatile int mesh_flag;
#define mesh_self() _PEN
#define mesh_fetch(memory, ldm, bytes, flag) athread_dma_iget(ldm, memory, bytes, flag)
#define mesh_fetch_rows(memory, ldm, bytes, block, gap, flag) athread_dma_iget_stride(ldm, memory, bytes, block, gap, flag)
#define mesh_store(ldm, memory, bytes, flag) athread_dma_iput(memory, ldm, bytes, flag)
#define mesh_store_rows(ldm, memory, bytes, block, gap, flag) athread_dma_iput_stride(memory, ldm, bytes, block, gap, flag)
#define mesh_wait(flag, count) athread_dma_wait_value(flag, count)
#define mesh_order() athread_dma_barrier()
#define mesh_meet() athread_syn(ARRAY_SCOPE, 0xfffff)
#define mesh_order_stores() __asm__ __volatile__("memb" ::: "memory")

#endif
