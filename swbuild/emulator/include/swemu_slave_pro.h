/* What only the slave side of the SW26010-Pro has; slave.h includes it. */
#pragma GCC system_header

#define CRTS_tid _PEN
#define CRTS_rid _ROW
#define CRTS_cid _COL
#define CRTS_cgn _CGN
#define CRTS_smng_get_tid() ((int)_PEN)
#define CRTS_smng_get_rid() ((int)_ROW)
#define CRTS_smng_get_cid() ((int)_COL)
#define CRTS_smng_get_cgn() ((int)_CGN)
#define CRTS_spc_tid (((_ROW >> 1) * 4 + (_COL >> 1)) * 4 + (_ROW & 1) * 2 + (_COL & 1))
#define CRTS_spcn (CRTS_spc_tid >> 2)
#define athread_tid _PEN

/* The DMA and RMA macros of this machine need vector registers. */
#ifdef _SIMD_SLAVE
#define __swemu_needs_simd
#else
#define __swemu_needs_simd __attribute__((error("Please use -msimd option!!!")))
#endif

/* ---- DMA: destination first ---- */
extern int __swemu_dma(int put, int wait, void *dst, void *src, int len, void *reply, int bsize, int stride)
    __swemu_needs_simd;
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
#define athread_dma_wait_value(rply, value) __swemu_wait_value((const volatile void *)(rply), (value))
extern int athread_dma_all_barrier(void);

/* Broadcasts of main memory into the LDM of many CPEs: which is 0 array, 1 own row, 2 own column. */
extern int __swemu_dma_bcast(int which, int collective, void *dst, void *src, int len, int bsize, int stride,
                             void *reply, int root) __swemu_needs_simd;
#define athread_dma_ibcast(dst, src, len, rply) __swemu_dma_bcast(0, 0, (void *)(dst), (void *)(src), (len), 0, 0, (void *)(rply), 0)
#define athread_dma_ibcast_stride(dst, src, len, bsize, stride, rply) \
    __swemu_dma_bcast(0, 0, (void *)(dst), (void *)(src), (len), (bsize), (stride), (void *)(rply), 0)
#define athread_dma_row_ibcast(dst, src, len, rply) __swemu_dma_bcast(1, 0, (void *)(dst), (void *)(src), (len), 0, 0, (void *)(rply), 0)
#define athread_dma_col_ibcast(dst, src, len, rply) __swemu_dma_bcast(2, 0, (void *)(dst), (void *)(src), (len), 0, 0, (void *)(rply), 0)
#define athread_dma_bcast_coll(dst, src, len) __swemu_dma_bcast(0, 1, (void *)(dst), (void *)(src), (len), 0, 0, 0, 0)
#define athread_dma_bcast_coll_stride(dst, src, len, bsize, stride) \
    __swemu_dma_bcast(0, 1, (void *)(dst), (void *)(src), (len), (bsize), (stride), 0, 0)
#define athread_dma_row_bcast_coll(dst, src, len, root) __swemu_dma_bcast(1, 1, (void *)(dst), (void *)(src), (len), 0, 0, 0, (root))
#define athread_dma_col_bcast_coll(dst, src, len, root) __swemu_dma_bcast(2, 1, (void *)(dst), (void *)(src), (len), 0, 0, 0, (root))

/* ---- RMA: LDM to LDM of the same core group, at the same LDM address ---- */
enum { __SWEMU_PUT, __SWEMU_GET };
extern int __swemu_rma(int op, int wait, void *local, void *l_reply, int len, int target, void *remote, void *r_reply)
    __swemu_needs_simd;
#define athread_rma_iput(l_addr, l_rply, len, r_tid, r_addr, r_rply) \
    __swemu_rma(__SWEMU_PUT, 0, (void *)(l_addr), (void *)(l_rply), (len), (r_tid), (void *)(r_addr), (void *)(r_rply))
#define athread_rma_iget(l_addr, l_rply, len, r_tid, r_addr, r_rply) \
    __swemu_rma(__SWEMU_GET, 0, (void *)(l_addr), (void *)(l_rply), (len), (r_tid), (void *)(r_addr), (void *)(r_rply))
#define athread_rma_put(l_addr, len, r_tid, r_addr, r_rply) \
    __swemu_rma(__SWEMU_PUT, 1, (void *)(l_addr), 0, (len), (r_tid), (void *)(r_addr), (void *)(r_rply))
#define athread_rma_get(l_addr, len, r_tid, r_addr, r_rply) \
    __swemu_rma(__SWEMU_GET, 1, (void *)(l_addr), 0, (len), (r_tid), (void *)(r_addr), (void *)(r_rply))

/* Broadcasts: which is 0 array, 1 rows of mask, 2 columns of mask; mask 0 means the caller's own row (column). */
extern int __swemu_rma_bcast(int which, int wait, void *dst, void *src, int len, int mask, void *l_reply, void *r_reply)
    __swemu_needs_simd;
#define athread_rma_bcast(dst, src, len, r_rply) __swemu_rma_bcast(0, 1, (void *)(dst), (void *)(src), (len), 0, 0, (void *)(r_rply))
#define athread_rma_ibcast(dst, src, l_rply, len, r_rply) \
    __swemu_rma_bcast(0, 0, (void *)(dst), (void *)(src), (len), 0, (void *)(l_rply), (void *)(r_rply))
#define athread_rma_row_bcast(dst, src, len, r_rply) __swemu_rma_bcast(1, 1, (void *)(dst), (void *)(src), (len), 0, 0, (void *)(r_rply))
#define athread_rma_col_bcast(dst, src, len, r_rply) __swemu_rma_bcast(2, 1, (void *)(dst), (void *)(src), (len), 0, 0, (void *)(r_rply))
#define athread_rma_row_ibcast(dst, src, len, l_rply, r_rply) \
    __swemu_rma_bcast(1, 0, (void *)(dst), (void *)(src), (len), 0, (void *)(l_rply), (void *)(r_rply))
#define athread_rma_col_ibcast(dst, src, len, l_rply, r_rply) \
    __swemu_rma_bcast(2, 0, (void *)(dst), (void *)(src), (len), 0, (void *)(l_rply), (void *)(r_rply))
#define athread_rma_row_mcast(dst, src, len, mask, r_rply) \
    __swemu_rma_bcast(1, 1, (void *)(dst), (void *)(src), (len), (mask), 0, (void *)(r_rply))
#define athread_rma_col_mcast(dst, src, len, mask, r_rply) \
    __swemu_rma_bcast(2, 1, (void *)(dst), (void *)(src), (len), (mask), 0, (void *)(r_rply))
#define athread_rma_row_imcast(dst, src, len, l_rply, mask, r_rply) \
    __swemu_rma_bcast(1, 0, (void *)(dst), (void *)(src), (len), (mask), (void *)(l_rply), (void *)(r_rply))
#define athread_rma_col_imcast(dst, src, len, l_rply, mask, r_rply) \
    __swemu_rma_bcast(2, 0, (void *)(dst), (void *)(src), (len), (mask), (void *)(l_rply), (void *)(r_rply))
extern int __swemu_rma_coll(int which, void *dst, void *src, int len, int root);
#define athread_rma_bcast_coll(dst, src, len, root) __swemu_rma_coll(0, (void *)(dst), (void *)(src), (len), (root))
#define athread_rma_row_bcast_coll(dst, src, len, root) __swemu_rma_coll(1, (void *)(dst), (void *)(src), (len), (root))
#define athread_rma_col_bcast_coll(dst, src, len, root) __swemu_rma_coll(2, (void *)(dst), (void *)(src), (len), (root))
#define athread_rma_wait_value(rply, value) __swemu_wait_value((const volatile void *)(rply), (value))
extern int athread_rma_barrier(void);
extern int athread_rma_all_barrier(void);

/* ---- synchronisation ---- */
extern int athread_ssync_array(void);
extern int __swemu_ssync(int scope, int mask);
extern int __swemu_ssync_set(int kind, int argument);
#define athread_ssync(scp, mask) __swemu_ssync((scp), (mask))
enum { __SWEMU_PEER = 8, __SWEMU_CLUSTER = 9, __SWEMU_FIRST = 10 };
#define CRTS_ssync_array() athread_ssync_array()
#define CRTS_ssync_row() __swemu_ssync(ROW_SCOPE, -1)
#define CRTS_ssync_col() __swemu_ssync(COL_SCOPE, -1)
#define CRTS_ssync_peer(tid) __swemu_ssync(PP_SCOPE, (tid))
#define athread_ssync_row() __swemu_ssync(ROW_SCOPE, -1)
#define athread_ssync_col() __swemu_ssync(COL_SCOPE, -1)
extern int athread_ssync_node(void);
extern int athread_ssync_master_array(void);

/* ---- LDM ---- */
extern void *ldm_malloc_max(size_t *size);
extern void ldm_free_all(void);

/* ---- locks and collectives ---- */
extern int athread_lock(volatile long *lock);
extern int athread_unlock(volatile long *lock);
typedef enum {
    athread_int = 0, athread_long, athread_float, athread_double, athread_intv16, athread_floatv8, athread_doublev8
} athread_datatype;
typedef enum { OP_add = 0, OP_and, OP_or, OP_xor, OP_eqv, OP_min, OP_max } athread_op;
extern int __swemu_reduce(const void *src, void *dst, int units, int type, int op);
#define athread_redurt(src, dst, units, dtype, op, buf, buf_items) \
    ((void)(buf), (void)(buf_items), __swemu_reduce((src), (dst), (units), (dtype), (op)))
#define CRTS_scoll_redurt athread_redurt
enum { CRTS_int, CRTS_long, CRTS_float, CRTS_double };
extern int athread_alltoall(void *src, void *dst, int unit);
extern int athread_alltoall_inplace(void *data, int unit);

/* ---- cache: the emulated memory is coherent; checked mode tells where a flush is missing ---- */
enum { CACHE_0KB, CACHE_32KB, CACHE_128KB };
#define set_cache_size(size) ((void)(size), 0)
extern void __swemu_flush(void);
#define flush_slave_cache() __swemu_flush()
#define evict_slave_cache_cont(start, end) ((void)(start), (void)(end), __swemu_flush())
#define sw_slave_write_hint(p) ((void)(p))
#define set_ptr_uncached(p) ((void)(p))
#define set_ptr_cached(p) ((void)(p))
#define athread_stime_cycle() __swemu_cycles()
#define CRTS_stime_cycle() __swemu_cycles()

/* ---- the CRTS spelling ---- */
#define CRTS_dma_get athread_dma_get
#define CRTS_dma_put athread_dma_put
#define CRTS_dma_get_stride athread_dma_get_stride
#define CRTS_dma_put_stride athread_dma_put_stride
#define CRTS_dma_iget athread_dma_iget
#define CRTS_dma_iput athread_dma_iput
#define CRTS_dma_iget_stride athread_dma_iget_stride
#define CRTS_dma_iput_stride athread_dma_iput_stride
#define CRTS_dma_wait_value athread_dma_wait_value
#define CRTS_dma_barrier athread_dma_barrier
#define CRTS_dma_all_barrier athread_dma_all_barrier
#define CRTS_dma_ibcast athread_dma_ibcast
#define CRTS_dma_row_ibcast athread_dma_row_ibcast
#define CRTS_dma_col_ibcast athread_dma_col_ibcast
#define CRTS_dma_bcast_coll athread_dma_bcast_coll
#define CRTS_dma_row_bcast_coll athread_dma_row_bcast_coll
#define CRTS_dma_col_bcast_coll athread_dma_col_bcast_coll
#define CRTS_rma_get athread_rma_get
#define CRTS_rma_put athread_rma_put
#define CRTS_rma_iget athread_rma_iget
#define CRTS_rma_iput athread_rma_iput
#define CRTS_rma_bcast athread_rma_bcast
#define CRTS_rma_ibcast athread_rma_ibcast
#define CRTS_rma_row_bcast athread_rma_row_bcast
#define CRTS_rma_col_bcast athread_rma_col_bcast
#define CRTS_rma_row_ibcast athread_rma_row_ibcast
#define CRTS_rma_col_ibcast athread_rma_col_ibcast
#define CRTS_rma_row_mcast athread_rma_row_mcast
#define CRTS_rma_col_mcast athread_rma_col_mcast
#define CRTS_rma_row_imcast athread_rma_row_imcast
#define CRTS_rma_col_imcast athread_rma_col_imcast
#define CRTS_rma_bcast_coll athread_rma_bcast_coll
#define CRTS_rma_row_bcast_coll athread_rma_row_bcast_coll
#define CRTS_rma_col_bcast_coll athread_rma_col_bcast_coll
#define CRTS_rma_wait_value athread_rma_wait_value
#define CRTS_rma_barrier athread_rma_barrier
#define CRTS_rma_all_barrier athread_rma_all_barrier
#define CRTS_pldm_malloc ldm_malloc
#define CRTS_pldm_free ldm_free
#define CRTS_pldm_get_free_size get_allocatable_size
