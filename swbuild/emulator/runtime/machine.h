/* The figures of the two machines that the runtime checks against (sources: swbuild/machine/ *.yaml). */
#ifndef SWEMU_MACHINE_H
#define SWEMU_MACHINE_H

#if SWEMU_MACHINE == 26010
#define MACHINE_NAME "sw26010"
#define LDM_BYTES (64 * 1024)
#define DMA_MAX_LEN (1L << 24)
#define DMA_MAX_BSIZE (1L << 20)
#define IS_PRO 0
#define MAX_GROUPS 1
#elif SWEMU_MACHINE == 26011
#define MACHINE_NAME "sw26010-pro"
#define LDM_BYTES (256 * 1024)
#define DMA_MAX_LEN (1L << 18)
#define DMA_MAX_BSIZE (1L << 18)
#define IS_PRO 1
#define MAX_GROUPS 6
#else
#error "SWEMU_MACHINE must be 26010 or 26011"
#endif
#define DMA_REQUEST 128

#endif
