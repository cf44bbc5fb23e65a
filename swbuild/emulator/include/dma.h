/* Low-level DMA descriptors of the SW26010. */
#ifndef SWEMU_DMA_H
#define SWEMU_DMA_H
#pragma GCC system_header

#include <slave.h>
#include <simd.h>
#ifdef __swemu_crts__
#error "dma.h belongs to the SW26010; on the SW26010-Pro use athread_dma_get and its family"
#endif

typedef enum { DMA_PUT = 0, DMA_GET = 1, DMA_PUT_P = 2, DMA_GET_P = 3, DMA_BARRIER = 5 } DMA_OP;

/* 32 bytes and a vector of integers, as on the machine, so that `dma_desc d = 0;` compiles. */
typedef long dma_desc __attribute__((vector_size(32)));

/* What is in it here; `set` tells an initialised descriptor from what the stack held before. */
typedef struct {
    unsigned int size, bsize, stride, set;
    unsigned char op, mode, mask, unused[5];
    volatile void *reply;
} __attribute__((may_alias)) __swemu_fields;

static inline __swemu_fields *__swemu_desc(dma_desc *d)
{
    const unsigned int magic = 0x5d3a0000u;
    __swemu_fields *f = (__swemu_fields *)d;
    if (f->set != magic) {
        *d = (dma_desc){0};
        f->set = magic;
    }
    return f;
}

#define dma_descriptor_init(d, r) (*(d) = (dma_desc){0}, __swemu_desc(d)->reply = (volatile void *)(r))
#define dma_set_op(d, v) ((void)(__swemu_desc(d)->op = (unsigned char)(v)))
#define dma_set_mode(d, v) ((void)(__swemu_desc(d)->mode = (unsigned char)(v)))
#define dma_set_size(d, v) ((void)(__swemu_desc(d)->size = (unsigned int)(v)))
#define dma_set_reply(d, v) ((void)(__swemu_desc(d)->reply = (volatile void *)(v)))
#define dma_set_mask(d, v) ((void)(__swemu_desc(d)->mask = (unsigned char)(v)))
#define dma_set_bsize(d, v) ((void)(__swemu_desc(d)->bsize = (unsigned int)(v)))
#define dma_set_stepsize(d, v) ((void)(__swemu_desc(d)->stride = (unsigned int)(v)))

extern int __swemu_dma_start(const void *d, void *mem, void *ldm);
#define dma(d, mem, ldm) ((void)__swemu_dma_start(&(d), (void *)(mem), (void *)(ldm)))
#define dma_wait(reply, n) ((void)__swemu_wait_equal((const volatile void *)(reply), (n)))
#define dma_barrier() ((void)athread_dma_barrier())

#endif
