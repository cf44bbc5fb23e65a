/* Included ahead of every file that a stand-in compiles: the keywords that the Sunway compilers know.
 * The stand-in defines __swemu_slave__ or __swemu_host__, __swemu_vector_bytes, the width of the vectors of that
 * side, and __swemu_crts__ for a machine with that interface. */
#ifndef SWEMU_PRELUDE_H
#define SWEMU_PRELUDE_H
#pragma GCC system_header

#ifdef __cplusplus
#define __swemu_tls __thread
extern "C" {
#else
#define __swemu_tls _Thread_local
#endif

/* LDM data. Every CPE thread has its own instance at one and the same offset of its LDM arena. */
#define __thread_local __swemu_tls
#define __thread_local_fix __swemu_tls
#define __thread_kernel(...) __swemu_tls
#define __thread_mix __swemu_tls
#define __ldm __swemu_tls

#define __thread_local_share \
    _Pragma("GCC error \"__thread_local_share: the part of the LDM that CPEs share is not emulated; use __thread_local and RMA\"")

/* Segments of main memory. The emulated node has one coherent main memory, so they all name it. */
#define __uncached
#define __atomic
#define __cross

#ifdef __swemu_slave__
/* A spin loop of slave code with an empty body calls this once per turn: n counts the turns,
 * word is the reply word that the loop looks at, when that could be seen, else a null pointer. */
extern void __swemu_relax(unsigned n, const volatile void *word);
#ifndef __cplusplus
extern void __swemu_not_volatile(void) __attribute__((warning(
    "the word that this loop waits for is not volatile: the Sunway compilers may read it once only")));
#endif
__asm__(".pushsection .swbuild.slave,\"\",@progbits\n\t.byte 1\n\t.popsection");
#else
__asm__(".pushsection .swbuild.host,\"\",@progbits\n\t.byte 1\n\t.popsection");
#endif

#ifdef __cplusplus
}
#endif
#endif
