/* Registers of the SW64 family and what their instructions compute, for C text made from assembly.
 *
 * SW26010: 32 registers of 256 bits, SW26010-Pro: 64 of 512 bits, each for integers, floating point and
 * vectors alike; the host has two files of 32.  A scalar is the lowest lane, and writing it leaves the other
 * lanes alone.  Singles are held as in the family's other members: sign and exponent of a double, the
 * fraction's low 29 bits zero.  Which functions stand for which instruction is in swbuild/sw64/semantics.py.
 */
#ifndef SWEMU_SW64_H
#define SWEMU_SW64_H
#pragma GCC system_header

#if __swemu_vector_bytes == 64
#define SW64_LANES 8
#else
#define SW64_LANES 4
#endif
#define SW64_BYTES (8 * SW64_LANES)

typedef long sw64_vl __attribute__((vector_size(SW64_BYTES)));
typedef unsigned long sw64_vu __attribute__((vector_size(SW64_BYTES)));
typedef double sw64_vd __attribute__((vector_size(SW64_BYTES)));
typedef int sw64_vw __attribute__((vector_size(SW64_BYTES)));
typedef unsigned sw64_vx __attribute__((vector_size(SW64_BYTES)));
typedef float sw64_vs __attribute__((vector_size(4 * SW64_LANES)));
typedef unsigned sw64_vb __attribute__((vector_size(4 * SW64_LANES))); /* the bits of singles */

/* One register: l and u its lowest 64 bits as integers, d as a double; v* the whole as lanes of 64 bits, of
 * doubles, or of words (w signed, x unsigned). */
typedef union sw64_reg {
    long l;
    unsigned long u;
    double d;
    sw64_vl vl;
    sw64_vu vu;
    sw64_vd vd;
    sw64_vw vw;
    sw64_vx vx;
    long lane[SW64_LANES];
    int word[2 * SW64_LANES];
} sw64_reg;

/* What $31 holds. */
static const sw64_reg sw64_zero __attribute__((unused)) = {0};

/* What loads and stores access. */
typedef signed char sw64_i1 __attribute__((may_alias));
typedef unsigned char sw64_u1 __attribute__((may_alias));
typedef unsigned short sw64_u2 __attribute__((may_alias));
typedef int sw64_i4 __attribute__((may_alias));
typedef unsigned sw64_u4 __attribute__((may_alias));
typedef long sw64_i8 __attribute__((may_alias));
typedef unsigned long sw64_u8 __attribute__((may_alias));
typedef sw64_vl sw64_m8 __attribute__((may_alias, aligned(8)));
typedef sw64_vb sw64_m4 __attribute__((may_alias, aligned(4)));

#define SW64_INLINE static inline __attribute__((always_inline, unused))

#ifdef __cplusplus
extern "C" {
#endif
void __swemu_unaligned(const volatile void *p, unsigned long alignment);
void __swemu_memb(void);
unsigned long __swemu_cycles(void);
long __swemu_csr(int number);
void __swemu_set_csr(int number, long value);
int __swemu_element(void);
unsigned long __swemu_row(void);
long __swemu_fetch_add(volatile void *word, long n, int bytes);
void __swemu_reg_send(const void *value, int bytes, int target, int column);
void __swemu_reg_receive(void *value, int bytes, int column);
int __swemu_dma_start(const void *d, void *mem, void *ldm);
int __swemu_syn(int scope, int mask);
void __swemu_relax(unsigned n, const volatile void *word);
#ifdef __cplusplus
}
#endif

/* ---- singles: memory format to register format and back; arithmetic on floats ---- */
SW64_INLINE unsigned long sw64_widen(unsigned bits)
{
    unsigned long high = bits >> 30 & 1, low = bits >> 23 & 0x7f;
    unsigned long exponent = high ? (low == 0x7f ? 0x7ff : 0x400 | low) : (low ? 0x380 | low : 0);
    return (unsigned long)(bits >> 31) << 63 | exponent << 52 | (unsigned long)(bits & 0x7fffff) << 29;
}
SW64_INLINE unsigned sw64_narrow(unsigned long bits)
{
    return (unsigned)(bits >> 32 & 0xc0000000) | (unsigned)(bits >> 29 & 0x3fffffff);
}
SW64_INLINE float sw64_get_s(unsigned long bits)
{
    union { unsigned u; float f; } x;
    x.u = sw64_narrow(bits);
    return x.f;
}
SW64_INLINE unsigned long sw64_put_s(float value)
{
    union { unsigned u; float f; } x;
    x.f = value;
    return sw64_widen(x.u);
}
SW64_INLINE sw64_vu sw64_vwiden(sw64_vb bits)
{
    sw64_vu b = __builtin_convertvector(bits, sw64_vu), low = b >> 23 & 0x7f;
    sw64_vu high = (sw64_vu)((b & 0x40000000) != 0);
    sw64_vu when_high = (0x400 | low) | (0x7ff & (sw64_vu)(low == 0x7f)), when_low = (0x380 | low) & (sw64_vu)(low != 0);
    sw64_vu exponent = (high & when_high) | (~high & when_low);
    return (b >> 31) << 63 | exponent << 52 | (b & 0x7fffff) << 29;
}
SW64_INLINE sw64_vb sw64_vnarrow(sw64_vu bits)
{
    return __builtin_convertvector((bits >> 32 & 0xc0000000) | (bits >> 29 & 0x3fffffff), sw64_vb);
}
SW64_INLINE sw64_vs sw64_get_vs(sw64_vu bits) { return (sw64_vs)sw64_vnarrow(bits); }
SW64_INLINE sw64_vu sw64_put_vs(sw64_vs value) { return sw64_vwiden((sw64_vb)value); }

/* ---- integers ---- */
SW64_INLINE unsigned long sw64_bytes(unsigned long mask)
{
    unsigned long result = 0;
    for (int k = 0; k < 8; k++)
        result |= mask >> k & 1 ? 0xffUL << 8 * k : 0;
    return result;
}
/* What a shift left by n & 7 bytes pushes over the top, and what one right pushes out below. */
SW64_INLINE unsigned long sw64_over(unsigned long x, unsigned long n) { return n & 7 ? x >> (64 - 8 * (n & 7)) : 0; }
SW64_INLINE unsigned long sw64_below(unsigned long x, unsigned long n) { return x << (-8 * n & 63); }
SW64_INLINE unsigned long sw64_umulh(unsigned long a, unsigned long b)
{
    return (unsigned long)((unsigned __int128)a * b >> 64);
}
SW64_INLINE unsigned long sw64_cmpgeb(unsigned long a, unsigned long b)
{
    unsigned long result = 0;
    for (int k = 0; k < 8; k++)
        result |= (unsigned long)((a >> 8 * k & 0xff) >= (b >> 8 * k & 0xff)) << k;
    return result;
}

/* ---- floating point ---- */
/* Round by 4 (towards zero), 5 (down), 6 (to the nearest, ties to even) or 7 (up). */
SW64_INLINE long sw64_to_long(double x, int how)
{
    x = how == 5 ? __builtin_floor(x) : how == 6 ? __builtin_nearbyint(x) : how == 7 ? __builtin_ceil(x) : x;
    if (x >= -9223372036854775808.0 && x < 9223372036854775808.0)
        return (long)x;
    union { double d; unsigned long u; } bits;
    bits.d = x;
    long shift = (long)(bits.u >> 52 & 0x7ff) - 1075; /* too large: the low 64 bits of the integer */
    unsigned long low = shift < 64 ? ((bits.u & 0xfffffffffffffUL) | 0x10000000000000UL) << shift : 0;
    return (long)(bits.u >> 63 ? -low : low);
}
SW64_INLINE sw64_vd sw64_vfma(sw64_vd a, sw64_vd b, sw64_vd c)
{
    sw64_vd r;
    for (int k = 0; k < SW64_LANES; k++)
        r[k] = __builtin_fma(a[k], b[k], c[k]);
    return r;
}
SW64_INLINE sw64_vs sw64_vfmas(sw64_vs a, sw64_vs b, sw64_vs c)
{
    sw64_vs r;
    for (int k = 0; k < SW64_LANES; k++)
        r[k] = __builtin_fmaf(a[k], b[k], c[k]);
    return r;
}
SW64_INLINE sw64_vd sw64_vsqrt(sw64_vd a)
{
    sw64_vd r;
    for (int k = 0; k < SW64_LANES; k++)
        r[k] = __builtin_sqrt(a[k]);
    return r;
}
SW64_INLINE sw64_vs sw64_vsqrts(sw64_vs a)
{
    sw64_vs r;
    for (int k = 0; k < SW64_LANES; k++)
        r[k] = __builtin_sqrtf(a[k]);
    return r;
}

/* ---- vectors ---- */
SW64_INLINE sw64_vl sw64_choose(sw64_vl mask, sw64_vl yes, sw64_vl no) { return (mask & yes) | (~mask & no); }
SW64_INLINE sw64_vu sw64_left(sw64_vu a, unsigned long n)
{
    sw64_vu r;
    for (int k = 0; k < SW64_LANES; k++) {
        int from = k - (int)(n >> 6);
        r[k] = from < 0 ? 0 : a[from] << (n & 63) | (n & 63 && from ? a[from - 1] >> (64 - (n & 63)) : 0);
    }
    return r;
}
SW64_INLINE sw64_vu sw64_right(sw64_vu a, unsigned long n)
{
    sw64_vu r;
    for (int k = 0; k < SW64_LANES; k++) {
        unsigned from = (unsigned)k + (unsigned)(n >> 6);
        r[k] = from >= SW64_LANES ? 0
                                  : a[from] >> (n & 63) | (n & 63 && from + 1 < SW64_LANES ? a[from + 1] << (64 - (n & 63)) : 0);
    }
    return r;
}
#if SW64_LANES == 4
/* The low half from b, the high half from a, each part by its bits of the selector. */
SW64_INLINE sw64_vl sw64_vshff(sw64_vl a, sw64_vl b, unsigned long s)
{
    return (sw64_vl){b[s & 3], b[s >> 2 & 3], a[s >> 4 & 3], a[s >> 6 & 3]};
}
SW64_INLINE sw64_vw sw64_vshfw(sw64_vw a, sw64_vw b, unsigned long s)
{
    sw64_vw r;
    for (int k = 0; k < 8; k++)
        r[k] = (k < 4 ? b : a)[s >> 4 * k & 7];
    return r;
}
#endif
/* Words of `low` from number n on, then of `high`. */
SW64_INLINE sw64_vw sw64_join(sw64_vw high, sw64_vw low, unsigned long n)
{
    sw64_vw r;
    for (unsigned k = 0; k < 2 * SW64_LANES; k++)
        r[k] = k + n < 2 * SW64_LANES ? low[k + n] : high[k + n - 2 * SW64_LANES];
    return r;
}

/* ---- C values in registers: of kind 1 a float, 2 a vector of them, 0 anything else ---- */
SW64_INLINE void sw64_in(sw64_reg *r, const void *value, unsigned long size, int kind)
{
    unsigned word;
    sw64_vb singles = {0};
    if (kind == 2) {
        __builtin_memcpy(&singles, value, size < sizeof singles ? size : sizeof singles);
        r->vu = sw64_vwiden(singles);
    } else if (size == 4) {
        __builtin_memcpy(&word, value, sizeof word);
        r->u = kind == 1 ? sw64_widen(word) : (unsigned long)(int)word;
    } else {
        __builtin_memcpy(r, value, size < sizeof *r ? size : sizeof *r);
    }
}
SW64_INLINE void sw64_out(const sw64_reg *r, void *value, unsigned long size, int kind)
{
    unsigned word = sw64_narrow(r->u);
    sw64_vb singles = sw64_vnarrow(r->vu);
    if (kind == 1)
        __builtin_memcpy(value, &word, size < sizeof word ? size : sizeof word);
    else if (kind == 2)
        __builtin_memcpy(value, &singles, size < sizeof singles ? size : sizeof singles);
    else
        __builtin_memcpy(value, r, size < sizeof *r ? size : sizeof *r);
}
#ifdef __cplusplus
template <typename T> SW64_INLINE int __swemu_kind(const T &) { return 0; }
SW64_INLINE int __swemu_kind(float) { return 1; }
SW64_INLINE int __swemu_kind(sw64_vs) { return 2; }
#endif

#undef SW64_INLINE
#endif

/* How the C of an instruction names a register. */
#ifndef R
#define R(n) sw64_r##n
#endif
