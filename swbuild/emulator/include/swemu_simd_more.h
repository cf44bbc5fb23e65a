/* The rest of simd.h: what works on vectors of any element type, and on integers bit by bit. */
#pragma GCC system_header

/* Run a statement for every lane: A, B, C are the arguments, R the result, K the lane. */
#define __SWEMU_LANES_OF(v) (int)(sizeof(v) / sizeof((v)[0]))
#define __swemu_unary(a, STATEMENT) \
    __extension__({ __typeof__(a) __swemu_A = (a), __swemu_R; \
                    for (int __swemu_k = 0; __swemu_k < __SWEMU_LANES_OF(__swemu_A); __swemu_k++) STATEMENT; __swemu_R; })
#define __swemu_binary(a, b, STATEMENT) \
    __extension__({ __typeof__(a) __swemu_A = (a), __swemu_B = (b), __swemu_R; \
                    for (int __swemu_k = 0; __swemu_k < __SWEMU_LANES_OF(__swemu_A); __swemu_k++) STATEMENT; __swemu_R; })

/* ---- selecting: the second argument where the first compares so with 0, else the third ---- */
#define simd_vseleq(c, a, b) __swemu_select_equal(c, a, b)
#define simd_vselne(c, a, b) __swemu_select(c, a, b, != 0)
#define simd_vsellt(c, a, b) __swemu_select(c, a, b, < 0)
#define simd_vselle(c, a, b) __swemu_select(c, a, b, <= 0)
#define simd_vselgt(c, a, b) __swemu_select(c, a, b, > 0)
#define simd_vselge(c, a, b) __swemu_select(c, a, b, >= 0)
#define simd_vseleqw(c, a, b) __swemu_select_equal(c, a, b)
#define simd_vselltw(c, a, b) __swemu_select(c, a, b, < 0)
#define simd_vsellew(c, a, b) __swemu_select(c, a, b, <= 0)
#define simd_vsellbcw(c, a, b) __swemu_select(c, a, b, % 2 == 0)

/* ---- comparing: 2.0 (integers: 1) where it holds, else 0 ---- */
#define simd_vfcmpeq(a, b) __swemu_compare(a, b, ==, 2)
#define simd_vfcmplt(a, b) __swemu_compare(a, b, <, 2)
#define simd_vfcmple(a, b) __swemu_compare(a, b, <=, 2)
#define simd_vfcmpun(a, b) \
    __swemu_binary(a, b, __swemu_R[__swemu_k] = __builtin_isunordered(__swemu_A[__swemu_k], __swemu_B[__swemu_k]) ? 2 : 0)
#define simd_vcmpeqw(a, b) __swemu_compare(a, b, ==, 1)
#define simd_vcmplew(a, b) __swemu_compare(a, b, <=, 1)
#define simd_vcmpltw(a, b) __swemu_compare(a, b, <, 1)
#define simd_vcmpulew(a, b) \
    __swemu_binary(a, b, __swemu_R[__swemu_k] = (unsigned)__swemu_A[__swemu_k] <= (unsigned)__swemu_B[__swemu_k])
#define simd_vcmpultw(a, b) \
    __swemu_binary(a, b, __swemu_R[__swemu_k] = (unsigned)__swemu_A[__swemu_k] < (unsigned)__swemu_B[__swemu_k])

/* ---- signs: vcpys has the sign of a and the rest of b ---- */
static inline __swemu_vd simd_vabsd(__swemu_vd a) { return (__swemu_vd)((__typeof__(a < a))a & ~(__typeof__(a < a))(-(__swemu_vd){0})); }
static inline __swemu_vf simd_vabss(__swemu_vf a) { return (__swemu_vf)((__typeof__(a < a))a & ~(__typeof__(a < a))(-(__swemu_vf){0})); }
#define simd_vcpys(a, b) \
    __swemu_binary(a, b, __swemu_R[__swemu_k] = __builtin_copysign(__swemu_B[__swemu_k], __swemu_A[__swemu_k]))
#define simd_vcpysn(a, b) \
    __swemu_binary(a, b, __swemu_R[__swemu_k] = __builtin_copysign(__swemu_B[__swemu_k], -__swemu_A[__swemu_k]))

/* ---- bits ---- */
#define simd_vbicw(a, b) ((a) & ~(b))
#define simd_vornotw(a, b) ((a) | ~(b))
#define simd_veqvw(a, b) (~((a) ^ (b)))
#define simd_vrolw(a, n) \
    __swemu_unary(a, __swemu_R[__swemu_k] = (int)((unsigned)__swemu_A[__swemu_k] << ((n) & 31) | \
                                                  (unsigned)__swemu_A[__swemu_k] >> (-(n) & 31)))
/* Each bit of the result is the bit of table at 4 a + 2 b + c. */
#define simd_vlog(table, a, b, c) \
    __extension__({ __typeof__(a) __swemu_A = (a), __swemu_B = (b), __swemu_C = (c), __swemu_R = {0}; \
                    for (int __swemu_k = 0; __swemu_k < 8; __swemu_k++) if ((table) >> __swemu_k & 1) \
                        __swemu_R |= (__swemu_k & 4 ? __swemu_A : ~__swemu_A) & (__swemu_k & 2 ? __swemu_B : ~__swemu_B) & \
                                     (__swemu_k & 1 ? __swemu_C : ~__swemu_C); \
                    __swemu_R; })

/* ---- integers: maximum and minimum ---- */
#define simd_smaxw(a, b) __swemu_larger(a, b)
#define simd_sminw(a, b) __swemu_smaller(a, b)

/* ---- lanes ---- */
#define simd_vextf(v, k) __swemu_extract(v, k)
#define simd_vextw(v, k) __swemu_extract(v, k)
#define simd_vinsf(x, v, k) __swemu_insert(x, v, k)
#define simd_vinsw(x, v, k) __swemu_insert(x, v, k)
#define simd_vinsw4(x, v) __swemu_insert(x, v, 4)
#define simd_vinsw5(x, v) __swemu_insert(x, v, 5)
#define simd_vinsw6(x, v) __swemu_insert(x, v, 6)
#define simd_vinsw7(x, v) __swemu_insert(x, v, 7)
#ifdef __SWEMU_WIDE
#define simd_vextw8(v) __swemu_extract(v, 8)
#define simd_vextw9(v) __swemu_extract(v, 9)
#define simd_vextw10(v) __swemu_extract(v, 10)
#define simd_vextw11(v) __swemu_extract(v, 11)
#define simd_vextw12(v) __swemu_extract(v, 12)
#define simd_vextw13(v) __swemu_extract(v, 13)
#define simd_vextw14(v) __swemu_extract(v, 14)
#define simd_vextw15(v) __swemu_extract(v, 15)
#endif
/* The value, or the lowest lane of a vector, in all lanes; the driver puts the first four where a number is
 * assigned to a vector. */
#ifndef __cplusplus
#define __SWEMU_SPLAT(NAME, T, X) static inline T NAME(X x) { return x - (T){0}; }  /* less 0, which keeps -0 */
__SWEMU_SPLAT(__swemu_splat_d, __swemu_vd, double)
__SWEMU_SPLAT(__swemu_splat_f, __swemu_vf, float)
__SWEMU_SPLAT(__swemu_splat_w, __swemu_vi, int)
__SWEMU_SPLAT(__swemu_splat_l, __swemu_vl, long)
#define simd_vcpyf(v) _Generic((v), __swemu_vd: __swemu_first_d, __swemu_vf: __swemu_first_f, \
                               double: __swemu_splat_d, float: __swemu_splat_f)(v)
#define simd_vcpyfd(x) ((double)(x) - (__swemu_vd){0})
#define simd_vcpyfs(x) ((float)(x) - (__swemu_vf){0})
static inline __swemu_vd __swemu_first_d(__swemu_vd v) { return __swemu_splat_d(v[0]); }
static inline __swemu_vf __swemu_first_f(__swemu_vf v) { return __swemu_splat_f(v[0]); }

/* What the driver puts for a cast to a vector: the other floating point is converted, whole numbers keep their bits. */
static inline __swemu_vd __swemu_keep_d(__swemu_vd v) { return v; }
static inline __swemu_vf __swemu_keep_f(__swemu_vf v) { return v; }
static inline __swemu_vd __swemu_f_to_d(__swemu_vf v) { return __builtin_convertvector(v, __swemu_vd); }
static inline __swemu_vf __swemu_d_to_f(__swemu_vd v) { return __builtin_convertvector(v, __swemu_vf); }
static inline __swemu_vd __swemu_vi_as_d(__swemu_vi v) { return (__swemu_vd)v; }
static inline __swemu_vd __swemu_vl_as_d(__swemu_vl v) { return (__swemu_vd)v; }
static inline __swemu_vd __swemu_vui_as_d(__swemu_vui v) { return (__swemu_vd)v; }
static inline __swemu_vd __swemu_vul_as_d(__swemu_vul v) { return (__swemu_vd)v; }
#endif
