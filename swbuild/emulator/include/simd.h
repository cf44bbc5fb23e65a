/* Vectors of both machines on GCC's vector extension.
 *
 * SW26010 and the MPE of the SW26010-Pro: 256 bits.  CPE of the SW26010-Pro: 512 bits; single precision
 * has as many lanes as double there.  simd_load and simd_store of a CPE need natural alignment.
 * Multiply-add is computed as a product and a sum, each rounded; with SWBUILD_EMU_FUSED, which code defines ahead
 * of this header, slave code has it round once, as the processor does.
 */
#ifndef SWEMU_SIMD_H
#define SWEMU_SIMD_H
#pragma GCC system_header

#if !defined(_SIMD_HOST) && !defined(_SIMD_SLAVE)
#ifdef __swemu_crts__
#error "Please use -msimd option!!!"
#endif
#endif
#include <stdio.h>
#include <string.h>
#include <math.h>

#if __swemu_vector_bytes == 64
#define __SWEMU_WIDE 1
typedef int intv16 __attribute__((vector_size(64)));
typedef unsigned int uintv16 __attribute__((vector_size(64)));
typedef long int512 __attribute__((vector_size(64)));
typedef unsigned long uint512 __attribute__((vector_size(64)));
typedef float floatv8 __attribute__((vector_size(32)));
typedef double doublev8 __attribute__((vector_size(64)));
#ifdef __FLT16_MANT_DIG__  /* some compilers have it not for all that they make code for */
typedef _Float16 float16;
typedef _Float16 float16v32 __attribute__((vector_size(64)));
#endif
typedef intv16 __swemu_vi;
typedef uintv16 __swemu_vui;
typedef uint512 __swemu_vul;
typedef int512 __swemu_vl;
typedef floatv8 __swemu_vf;
typedef doublev8 __swemu_vd;
#define __SWEMU_LANES 8
#define __SWEMU_INTS 16
#else
typedef int intv8 __attribute__((vector_size(32)));
typedef unsigned int uintv8 __attribute__((vector_size(32)));
typedef long int256 __attribute__((vector_size(32)));
typedef unsigned long uint256 __attribute__((vector_size(32)));
typedef float floatv4 __attribute__((vector_size(16)));
typedef double doublev4 __attribute__((vector_size(32)));
typedef intv8 __swemu_vi;
typedef uintv8 __swemu_vui;
typedef uint256 __swemu_vul;
typedef int256 __swemu_vl;
typedef floatv4 __swemu_vf;
typedef doublev4 __swemu_vd;
#define __SWEMU_LANES 4
#define __SWEMU_INTS 8
#endif

enum { __swemu_tests = 1 }; /* 0 in code that is costed and never runs: the driver's counting.py */

#ifdef __swemu_slave__
#ifdef __cplusplus
extern "C"
#else
extern
#endif
void __swemu_unaligned(const volatile void *p, unsigned long alignment);
#define __swemu_at(v, p) \
    __extension__({ const volatile void *__swemu_p = (p); \
                    if (__swemu_tests && ((unsigned long)__swemu_p & (sizeof(v) - 1))) \
                        __swemu_unaligned(__swemu_p, sizeof(v)); \
                    (__typeof__(v) *)__swemu_p; })
#else
typedef int __swemu_any_int __attribute__((aligned(1)));
#define __swemu_at(v, p) __extension__({ typedef __typeof__(v) __swemu_t __attribute__((aligned(4))); (__swemu_t *)(p); })
#endif

/* ---- memory ---- */
#define simd_load(v, p) ((void)((v) = *__swemu_at(v, (p))))
#define simd_store(v, p) ((void)(*__swemu_at(v, (p)) = (v)))
/* Checked mode sees these, and would not see a memcpy. */
#define simd_loadu(v, p) \
    __extension__({ typedef __typeof__(v) __swemu_t __attribute__((aligned(1), may_alias)); \
                    (void)((v) = *(const __swemu_t *)(p)); })
#define simd_load_u(v, p) simd_loadu(v, p)
#define simd_storeu(v, p) \
    __extension__({ typedef __typeof__(v) __swemu_t __attribute__((aligned(1), may_alias)); \
                    (void)(*(__swemu_t *)(p) = (v)); })
#define simd_store_u(v, p) simd_storeu(v, p)
#define simd_loade(v, p) ((void)((v) = *(p) - (__typeof__(v)){0}))  /* less 0, which keeps -0 */

/* ---- building ---- */
#ifdef __SWEMU_WIDE
#define simd_set_doublev8(a, b, c, d, e, f, g, h) ((doublev8){(a), (b), (c), (d), (e), (f), (g), (h)})
#define simd_set_floatv8(a, b, c, d, e, f, g, h) ((floatv8){(a), (b), (c), (d), (e), (f), (g), (h)})
#define simd_set_int512(a, b, c, d, e, f, g, h) ((int512){(a), (b), (c), (d), (e), (f), (g), (h)})
#define simd_set_intv16(...) ((intv16){__VA_ARGS__})
#else
#define simd_set_doublev4(a, b, c, d) ((doublev4){(a), (b), (c), (d)})
#define simd_set_floatv4(a, b, c, d) ((floatv4){(a), (b), (c), (d)})
#define simd_set_int256(a, b, c, d) ((int256){(a), (b), (c), (d)})
#define simd_set_intv8(...) ((intv8){__VA_ARGS__})
#endif

/* ---- arithmetic ---- */
#define simd_vaddd(a, b) ((a) + (b))
#define simd_vsubd(a, b) ((a) - (b))
#define simd_vmuld(a, b) ((a) * (b))
#define simd_vdivd(a, b) ((a) / (b))
#define simd_vadds(a, b) ((a) + (b))
#define simd_vsubs(a, b) ((a) - (b))
#define simd_vmuls(a, b) ((a) * (b))
#define simd_vdivs(a, b) ((a) / (b))
#define simd_vaddw(a, b) ((a) + (b))
#define simd_vsubw(a, b) ((a) - (b))
#define simd_vaddl(a, b) ((a) + (b))
#define simd_vsubl(a, b) ((a) - (b))
#if !defined(SWBUILD_EMU_FUSED) || !defined(__swemu_slave__)
#define simd_vmad(a, b, c) ((a) * (b) + (c))
#define simd_vmsd(a, b, c) ((a) * (b) - (c))
#define simd_vnmad(a, b, c) ((c) - (a) * (b))
#define simd_vnmsd(a, b, c) (-((a) * (b)) - (c))
#define simd_vmas simd_vmad
#define simd_vmss simd_vmsd
#define simd_vnmas simd_vnmad
#define simd_vnmss simd_vnmsd
#else
/* Costed code, which never runs, has the product and the sum that the model melts into one. */
#ifdef __SWEMU_WIDE
#define __SWEMU_LANEWISE(T, L) ((T){L(0), L(1), L(2), L(3), L(4), L(5), L(6), L(7)})
#else
#define __SWEMU_LANEWISE(T, L) ((T){L(0), L(1), L(2), L(3)})
#endif
/* Macros, so that what they become belongs to the line that they stand in. */
#define __SWEMU_FUSED(T, A, B, C, APART, L) \
    __extension__({ const T __swemu_a = (A), __swemu_b = (B), __swemu_c = (C); \
                    __swemu_tests ? __SWEMU_LANEWISE(T, L) : (APART); })
#define __SWEMU_LANE_MAD(k) __builtin_fma(__swemu_a[k], __swemu_b[k], __swemu_c[k])
#define __SWEMU_LANE_MSD(k) __builtin_fma(__swemu_a[k], __swemu_b[k], -__swemu_c[k])
#define __SWEMU_LANE_NMAD(k) __builtin_fma(-__swemu_a[k], __swemu_b[k], __swemu_c[k])
#define __SWEMU_LANE_NMSD(k) __builtin_fma(-__swemu_a[k], __swemu_b[k], -__swemu_c[k])
#define __SWEMU_LANE_MAS(k) __builtin_fmaf(__swemu_a[k], __swemu_b[k], __swemu_c[k])
#define __SWEMU_LANE_MSS(k) __builtin_fmaf(__swemu_a[k], __swemu_b[k], -__swemu_c[k])
#define __SWEMU_LANE_NMAS(k) __builtin_fmaf(-__swemu_a[k], __swemu_b[k], __swemu_c[k])
#define __SWEMU_LANE_NMSS(k) __builtin_fmaf(-__swemu_a[k], __swemu_b[k], -__swemu_c[k])
#define simd_vmad(a, b, c) __SWEMU_FUSED(__swemu_vd, a, b, c, __swemu_a * __swemu_b + __swemu_c, __SWEMU_LANE_MAD)
#define simd_vmsd(a, b, c) __SWEMU_FUSED(__swemu_vd, a, b, c, __swemu_a * __swemu_b - __swemu_c, __SWEMU_LANE_MSD)
#define simd_vnmad(a, b, c) __SWEMU_FUSED(__swemu_vd, a, b, c, __swemu_c - __swemu_a * __swemu_b, __SWEMU_LANE_NMAD)
#define simd_vnmsd(a, b, c) __SWEMU_FUSED(__swemu_vd, a, b, c, -(__swemu_a * __swemu_b) - __swemu_c, __SWEMU_LANE_NMSD)
#define simd_vmas(a, b, c) __SWEMU_FUSED(__swemu_vf, a, b, c, __swemu_a * __swemu_b + __swemu_c, __SWEMU_LANE_MAS)
#define simd_vmss(a, b, c) __SWEMU_FUSED(__swemu_vf, a, b, c, __swemu_a * __swemu_b - __swemu_c, __SWEMU_LANE_MSS)
#define simd_vnmas(a, b, c) __SWEMU_FUSED(__swemu_vf, a, b, c, __swemu_c - __swemu_a * __swemu_b, __SWEMU_LANE_NMAS)
#define simd_vnmss(a, b, c) __SWEMU_FUSED(__swemu_vf, a, b, c, -(__swemu_a * __swemu_b) - __swemu_c, __SWEMU_LANE_NMSS)
#endif
#define simd_vandw(a, b) ((a) & (b))
#define simd_vbisw(a, b) ((a) | (b))
#define simd_vxorw(a, b) ((a) ^ (b))
#define simd_vsllw(a, n) ((a) << (n))
#define simd_vsrlw(a, n) __extension__({ __typeof__(a) __swemu_a = (a); for (int __swemu_k = 0; __swemu_k < __SWEMU_INTS; __swemu_k++) \
    __swemu_a[__swemu_k] = (int)((unsigned)__swemu_a[__swemu_k] >> (n)); __swemu_a; })
#define simd_vsraw(a, n) ((a) >> (n))

#define __SWEMU_EACH(T, LANES, EXPR) \
    __extension__({ T __swemu_r; for (int __swemu_k = 0; __swemu_k < (LANES); __swemu_k++) __swemu_r[__swemu_k] = (EXPR); __swemu_r; })

/* ---- comparing (2.0, integers 1, where it holds, else 0) and selecting by how the first argument is to 0 ----
 *
 * Code that runs does so in pieces that any x86-64 has vectors of, so that it does not branch where costed code does
 * not.  Costed code takes the bits of a comparison themselves, which a choice does not compare once more, and a
 * division in the place of a square root, which takes as long: C has none of vectors.
 */
/* Macros have each argument once: what their calls in calls become would grow with every level. */
#ifdef __cplusplus
#define __swemu_auto auto
#else
#define __swemu_auto __auto_type
#endif
/* The type of a vector, whether it may be changed or not. */
#define __swemu_like(v) __typeof__((v) + (v))
#define __SWEMU_PIECE(V) typedef __typeof__((V)[0] + (V)[0]) __swemu_piece __attribute__((vector_size(16)))
#define __SWEMU_PIECES(V, NAME, VALUE) \
    union { __swemu_like(V) whole; __swemu_piece piece[sizeof(V) / 16]; } NAME; NAME.whole = VALUE
#define __SWEMU_PIECEWISE(V, STATEMENT) \
    { enum { __swemu_k = 0 }; STATEMENT; } \
    if (sizeof(V) > 16) { enum { __swemu_k = 1 }; STATEMENT; } \
    if (sizeof(V) > 32) { { enum { __swemu_k = 2 }; STATEMENT; } { enum { __swemu_k = 3 }; STATEMENT; } }
/* All bits of a lane of MASK say whether it is that of A or that of B. */
#define __swemu_mixed(MASK, A, B) \
    (__typeof__(A))(((__typeof__(MASK))(A) & (MASK)) | ((__typeof__(MASK))(B) & ~(MASK)))
#define __swemu_compare(a, b, OP, YES) \
    __extension__({ \
        const __swemu_auto __swemu_A = (a); const __swemu_auto __swemu_B = (b); __swemu_like(__swemu_A) __swemu_R; \
        if (__swemu_tests) { \
            __SWEMU_PIECE(__swemu_A); \
            __SWEMU_PIECES(__swemu_A, __swemu_a, __swemu_A); __SWEMU_PIECES(__swemu_A, __swemu_b, __swemu_B); \
            __SWEMU_PIECEWISE(__swemu_A, __swemu_a.piece[__swemu_k] = \
                __swemu_mixed(__swemu_a.piece[__swemu_k] OP __swemu_b.piece[__swemu_k], YES + (__swemu_piece){0}, (__swemu_piece){0})) \
            __swemu_R = __swemu_a.whole; \
        } else __swemu_R = (__swemu_like(__swemu_A))(__swemu_A OP __swemu_B); \
        __swemu_R; })
#define __swemu_select_as(c, a, b, TEST, COSTED) \
    __extension__({ \
        const __swemu_auto __swemu_C = (c); const __swemu_auto __swemu_A = (a); const __swemu_auto __swemu_B = (b); \
        __swemu_like(__swemu_A) __swemu_R; \
        if (__swemu_tests) { \
            __SWEMU_PIECE(__swemu_C); __SWEMU_PIECES(__swemu_C, __swemu_c, __swemu_C); \
            __SWEMU_PIECES(__swemu_C, __swemu_a, (__swemu_like(__swemu_C))__swemu_A); __SWEMU_PIECES(__swemu_C, __swemu_b, (__swemu_like(__swemu_C))__swemu_B); \
            __SWEMU_PIECEWISE(__swemu_C, __swemu_a.piece[__swemu_k] = \
                __swemu_mixed(__swemu_c.piece[__swemu_k] TEST, __swemu_a.piece[__swemu_k], __swemu_b.piece[__swemu_k])) \
            __swemu_R = (__swemu_like(__swemu_A))__swemu_a.whole; \
        } else __swemu_R = __swemu_mixed(COSTED, __swemu_A, __swemu_B); \
        __swemu_R; })
#define __swemu_select(c, a, b, TEST) __swemu_select_as(c, a, b, TEST, __swemu_C TEST)
#define __swemu_select_equal(c, a, b) \
    __swemu_select_as(c, a, b, == 0, ~(__typeof__(__swemu_C == 0))__swemu_C)
/* As an argument: of this type, and nothing else.  Functions would be passed vectors that x86 may have no registers
 * for, which compilers warn of. */
#define __swemu_typed(T, v) __extension__({ const T __swemu_t = (v); __swemu_t; })
#define __swemu_compare_typed(T, a, b, OP) __swemu_compare(__swemu_typed(T, a), __swemu_typed(T, b), OP, 2)
#define simd_vfcmpeqd(a, b) __swemu_compare_typed(__swemu_vd, a, b, ==)
#define simd_vfcmpltd(a, b) __swemu_compare_typed(__swemu_vd, a, b, <)
#define simd_vfcmpled(a, b) __swemu_compare_typed(__swemu_vd, a, b, <=)
#define simd_vfcmpeqs(a, b) __swemu_compare_typed(__swemu_vf, a, b, ==)
#define simd_vfcmplts(a, b) __swemu_compare_typed(__swemu_vf, a, b, <)
#define simd_vfcmples(a, b) __swemu_compare_typed(__swemu_vf, a, b, <=)
static inline __swemu_vd simd_vfcmpund(__swemu_vd a, __swemu_vd b)
{ return __SWEMU_EACH(__swemu_vd, __SWEMU_LANES, a[__swemu_k] != a[__swemu_k] || b[__swemu_k] != b[__swemu_k] ? 2 : 0); }
#define __swemu_select_typed(T, c, a, b, TEST) \
    __swemu_select(__swemu_typed(T, c), __swemu_typed(T, a), __swemu_typed(T, b), TEST)
#define __swemu_select_equal_typed(T, c, a, b) \
    __swemu_select_equal(__swemu_typed(T, c), __swemu_typed(T, a), __swemu_typed(T, b))
#define simd_vselltd(c, a, b) __swemu_select_typed(__swemu_vd, c, a, b, < 0)
#define simd_vselled(c, a, b) __swemu_select_typed(__swemu_vd, c, a, b, <= 0)
#define simd_vsellts(c, a, b) __swemu_select_typed(__swemu_vf, c, a, b, < 0)
#define simd_vselles(c, a, b) __swemu_select_typed(__swemu_vf, c, a, b, <= 0)
#define simd_vseleqd(c, a, b) __swemu_select_equal_typed(__swemu_vd, c, a, b)
#define simd_vseleqs(c, a, b) __swemu_select_equal_typed(__swemu_vf, c, a, b)
#define __swemu_larger(a, b) \
    __extension__({ const __swemu_auto __swemu_x = (a); const __swemu_auto __swemu_y = (b); \
                    __swemu_select_equal(__swemu_compare(__swemu_y, __swemu_x, <, 2), __swemu_y, __swemu_x); })
#define __swemu_smaller(a, b) \
    __extension__({ const __swemu_auto __swemu_x = (a); const __swemu_auto __swemu_y = (b); \
                    __swemu_select_equal(__swemu_compare(__swemu_x, __swemu_y, <, 2), __swemu_y, __swemu_x); })
static inline __swemu_vd simd_smaxd(__swemu_vd a, __swemu_vd b) { return __swemu_larger(a, b); }
static inline __swemu_vd simd_smind(__swemu_vd a, __swemu_vd b) { return __swemu_smaller(a, b); }
static inline __swemu_vf simd_smaxs(__swemu_vf a, __swemu_vf b) { return __swemu_larger(a, b); }
static inline __swemu_vf simd_smins(__swemu_vf a, __swemu_vf b) { return __swemu_smaller(a, b); }
#ifdef __x86_64__
#define __swemu_square_root(T, v, PIECE, ROOT) \
    __extension__({ \
        const T __swemu_A = (v); T __swemu_R; \
        if (__swemu_tests) { \
            __SWEMU_PIECE(__swemu_A); __SWEMU_PIECES(__swemu_A, __swemu_a, __swemu_A); \
            __SWEMU_PIECEWISE(__swemu_A, __swemu_a.piece[__swemu_k] = PIECE(__swemu_a.piece[__swemu_k])) \
            __swemu_R = __swemu_a.whole; \
        } else __swemu_R = __swemu_A / __swemu_A; \
        __swemu_R; })
#else
#define __swemu_square_root(T, v, PIECE, ROOT) \
    __extension__({ const T __swemu_A = (v); __SWEMU_EACH(T, __SWEMU_LANES, ROOT(__swemu_A[__swemu_k])); })
#endif
#define simd_vsqrtd(a) __swemu_square_root(__swemu_vd, a, __builtin_ia32_sqrtpd, sqrt)
#define simd_vsqrts(a) __swemu_square_root(__swemu_vf, a, __builtin_ia32_sqrtps, sqrtf)

/* ---- lanes ---- */
#define __swemu_extract(v, k) ((v)[(k)])
#define __swemu_insert(x, v, k) __extension__({ __typeof__(v) __swemu_v = (v); __swemu_v[(k)] = (x); __swemu_v; })
#define simd_vextf0(v) __swemu_extract(v, 0)
#define simd_vextf1(v) __swemu_extract(v, 1)
#define simd_vextf2(v) __swemu_extract(v, 2)
#define simd_vextf3(v) __swemu_extract(v, 3)
#define simd_vextf4(v) __swemu_extract(v, 4)
#define simd_vextf5(v) __swemu_extract(v, 5)
#define simd_vextf6(v) __swemu_extract(v, 6)
#define simd_vextf7(v) __swemu_extract(v, 7)
#define simd_vinsf0(x, v) __swemu_insert(x, v, 0)
#define simd_vinsf1(x, v) __swemu_insert(x, v, 1)
#define simd_vinsf2(x, v) __swemu_insert(x, v, 2)
#define simd_vinsf3(x, v) __swemu_insert(x, v, 3)
#define simd_vinsf4(x, v) __swemu_insert(x, v, 4)
#define simd_vinsf5(x, v) __swemu_insert(x, v, 5)
#define simd_vinsf6(x, v) __swemu_insert(x, v, 6)
#define simd_vinsf7(x, v) __swemu_insert(x, v, 7)
#define simd_vextw0(v) __swemu_extract(v, 0)
#define simd_vextw1(v) __swemu_extract(v, 1)
#define simd_vextw2(v) __swemu_extract(v, 2)
#define simd_vextw3(v) __swemu_extract(v, 3)
#define simd_vextw4(v) __swemu_extract(v, 4)
#define simd_vextw5(v) __swemu_extract(v, 5)
#define simd_vextw6(v) __swemu_extract(v, 6)
#define simd_vextw7(v) __swemu_extract(v, 7)
#define simd_vinsw0(x, v) __swemu_insert(x, v, 0)
#define simd_vinsw1(x, v) __swemu_insert(x, v, 1)
#define simd_vinsw2(x, v) __swemu_insert(x, v, 2)
#define simd_vinsw3(x, v) __swemu_insert(x, v, 3)

/* Low two lanes from vb, high two from va, each chosen by two bits of the mask. */
#ifndef __SWEMU_WIDE
#define simd_vshff(va, vb, mask) \
    __extension__({ __typeof__(va) __swemu_a = (va), __swemu_b = (vb), __swemu_r; int __swemu_m = (int)(mask); \
                    __swemu_r[0] = __swemu_b[__swemu_m & 3]; __swemu_r[1] = __swemu_b[__swemu_m >> 2 & 3]; \
                    __swemu_r[2] = __swemu_a[__swemu_m >> 4 & 3]; __swemu_r[3] = __swemu_a[__swemu_m >> 6 & 3]; __swemu_r; })
#define simd_vshfw(va, vb, mask) \
    __extension__({ __typeof__(va) __swemu_a = (va), __swemu_b = (vb), __swemu_r; unsigned __swemu_m = (unsigned)(mask); \
                    for (int __swemu_k = 0; __swemu_k < 8; __swemu_k++) { \
                        int __swemu_s = (int)(__swemu_m >> (4 * __swemu_k) & 7); \
                        __swemu_r[__swemu_k] = __swemu_k < 4 ? __swemu_b[__swemu_s] : __swemu_a[__swemu_s]; } __swemu_r; })
#endif

/* ---- reductions ---- */
#define __SWEMU_SUM(v, LANES) \
    __extension__({ __typeof__(v) __swemu_v = (v); __typeof__(__swemu_v[0]) __swemu_s = __swemu_v[0]; \
                    for (int __swemu_k = 1; __swemu_k < (LANES); __swemu_k++) __swemu_s += __swemu_v[__swemu_k]; __swemu_s; })
#define simd_reduc_plusd(v) __SWEMU_SUM(v, __SWEMU_LANES)
#define simd_reduc_pluss(v) __SWEMU_SUM(v, __SWEMU_LANES)
#define simd_reduc_plusw(v) __SWEMU_SUM(v, __SWEMU_INTS)
#define simd_reduc_plusl(v) __SWEMU_SUM(v, __SWEMU_LANES)

#include <swemu_simd_more.h>

/* ---- printing: the highest lane first ---- */
#define __swemu_print(v, LANES, FORMAT) \
    __extension__({ __typeof__(v) __swemu_v = (v); printf("["); \
                    for (int __swemu_k = (LANES) - 1; __swemu_k >= 0; __swemu_k--) \
                        printf(FORMAT "%s", __swemu_v[__swemu_k], __swemu_k ? ", " : "]\n"); })
#define simd_print_doublev4(v) __swemu_print(v, 4, "%f")
#define simd_print_floatv4(v) __swemu_print(v, 4, "%f")
#define simd_print_int256(v) __swemu_print(v, 4, "%ld")
#define simd_print_intv8(v) __swemu_print(v, 8, "%d")
#define simd_print_doublev8(v) __swemu_print(v, 8, "%f")
#define simd_print_floatv8(v) __swemu_print(v, 8, "%f")
#define simd_print_int512(v) __swemu_print(v, 8, "%ld")
#define simd_print_intv16(v) __swemu_print(v, 16, "%d")

/* ---- register communication of the SW26010 ---- */
#if !defined(__swemu_crts__) && defined(__swemu_slave__)
#include <slave.h>
#define simd_putr(v, target) REG_PUTR(v, target)
#define simd_putc(v, target) REG_PUTC(v, target)
#define simd_getr(v) (__swemu_reg_receive(&(v), sizeof(v), 0), (v))
#define simd_getc(v) (__swemu_reg_receive(&(v), sizeof(v), 1), (v))
#define simd_loadr(v, p) ((void)(simd_load(v, p), REG_PUTR(v, 8)))
#define simd_loadc(v, p) ((void)(simd_load(v, p), REG_PUTC(v, 8)))
#define simd_loader(v, p) ((void)(simd_loade(v, p), REG_PUTR(v, 8)))
#define simd_loadec(v, p) ((void)(simd_loade(v, p), REG_PUTC(v, 8)))
#endif

#endif
