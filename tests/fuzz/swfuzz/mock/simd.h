#ifndef SWMOCK_SIMD_H
#define SWMOCK_SIMD_H
/* The vectors of both machines; a load or store of one that lies anywhere. */
typedef double doublev4 __attribute__((vector_size(32)));
typedef float floatv4 __attribute__((vector_size(16)));
typedef double doublev8 __attribute__((vector_size(64)));
typedef float floatv8 __attribute__((vector_size(32)));
typedef int intv8 __attribute__((vector_size(32)));
typedef int intv16 __attribute__((vector_size(64)));
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
#define simd_set_intv8(...) ((intv8){__VA_ARGS__})
#define simd_set_intv16(...) ((intv16){__VA_ARGS__})
#define simd_vcpyfd(x) ((double)(x) - (doublev8){0})
#define simd_vcpyfs(x) ((float)(x) - (floatv8){0})
/* Lane by lane: VALUE is of the vectors swmock_a, swmock_b and swmock_c at lane swmock_k. */
#define swmock_lanes(VALUE, A, B, C)                                                          \
    __extension__({                                                                           \
        const __auto_type swmock_a = (A);                                                     \
        const __auto_type swmock_b = (B);                                                     \
        const __auto_type swmock_c = (C);                                                     \
        __typeof__(swmock_a + swmock_a) swmock_r;                                             \
        (void)swmock_b, (void)swmock_c;                                                       \
        for (unsigned swmock_k = 0; swmock_k < sizeof(swmock_r) / sizeof(swmock_r[0]); swmock_k++) \
            swmock_r[swmock_k] = (VALUE);                                                     \
        swmock_r;                                                                             \
    })
#define swmock_unary(VALUE, A) swmock_lanes(VALUE, A, 0, 0)
#define swmock_binary(VALUE, A, B) swmock_lanes(VALUE, A, B, 0)
#define simd_vaddw(A, B) ((A) + (B))
#define simd_vsubw(A, B) ((A) - (B))
#define simd_vsqrtd(A) swmock_unary(__builtin_sqrt(swmock_a[swmock_k]), A)
#define simd_vsqrts(A) swmock_unary(__builtin_sqrtf(swmock_a[swmock_k]), A)
#define simd_vabsd(A) swmock_unary(__builtin_fabs(swmock_a[swmock_k]), A)
#define simd_vabss(A) swmock_unary(__builtin_fabsf(swmock_a[swmock_k]), A)
#define simd_vfcmplt(A, B) swmock_binary(swmock_a[swmock_k] < swmock_b[swmock_k] ? 2 : 0, A, B)
#define simd_vfcmple(A, B) swmock_binary(swmock_a[swmock_k] <= swmock_b[swmock_k] ? 2 : 0, A, B)
#define simd_vfcmpeq(A, B) swmock_binary(swmock_a[swmock_k] == swmock_b[swmock_k] ? 2 : 0, A, B)
#define simd_vseleq(A, B, C) swmock_lanes(swmock_a[swmock_k] == 0 ? swmock_b[swmock_k] : swmock_c[swmock_k], A, B, C)
#define simd_vfcmpltd simd_vfcmplt
#define simd_vfcmplts simd_vfcmplt
#define simd_vcmpltw simd_vfcmplt
#define simd_vfcmpled simd_vfcmple
#define simd_vfcmples simd_vfcmple
#define simd_vcmplew simd_vfcmple
#define simd_vfcmpeqd simd_vfcmpeq
#define simd_vfcmpeqs simd_vfcmpeq
#define simd_vcmpeqw simd_vfcmpeq
#define simd_vseleqd simd_vseleq
#define simd_vseleqs simd_vseleq
#define simd_vseleqw simd_vseleq
#endif
