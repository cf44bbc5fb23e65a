#ifndef SWMOCK_SIMD_H
#define SWMOCK_SIMD_H
/* The vectors of both machines; a load or store of one that lies anywhere. */
typedef double doublev4 __attribute__((vector_size(32)));
typedef float floatv4 __attribute__((vector_size(16)));
typedef double doublev8 __attribute__((vector_size(64)));
typedef float floatv8 __attribute__((vector_size(32)));
#define simd_loadu(v, p) ((void)__builtin_memcpy(&(v), (p), sizeof(v)))
#define simd_storeu(v, p) ((void)__builtin_memcpy((p), &(v), sizeof(v)))
#define simd_load(v, p) simd_loadu(v, swmock_aligned(p, sizeof(v)))
#define simd_store(v, p) simd_storeu(v, swmock_aligned(p, sizeof(v)))
#define simd_putr(v, target) swmock_send(&(v), sizeof(v), 0 * (target))
#define simd_putc(v, target) swmock_send(&(v), sizeof(v), 0 * (target) + 1)
#define simd_getr(v) (swmock_receive(&(v), sizeof(v), 0), (v))
#define simd_getc(v) (swmock_receive(&(v), sizeof(v), 1), (v))
#define simd_loade(v, p) ((void)((v) = *(p) - (__typeof__(v)){0})) /* less 0, which keeps -0 */
#define simd_set_doublev4(a, b, c, d) ((doublev4){(a), (b), (c), (d)})
#define simd_set_floatv4(a, b, c, d) ((floatv4){(a), (b), (c), (d)})
#define simd_set_doublev8(a, b, c, d, e, f, g, h) ((doublev8){(a), (b), (c), (d), (e), (f), (g), (h)})
#define simd_set_floatv8(a, b, c, d, e, f, g, h) ((floatv8){(a), (b), (c), (d), (e), (f), (g), (h)})
#define simd_vcpyfd(x) ((double)(x) - (doublev8){0})
#define simd_vcpyfs(x) ((float)(x) - (floatv8){0})
#endif
