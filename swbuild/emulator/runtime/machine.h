/* The figures of the machine that the runtime checks against.
 *
 * The numbers come from swbuild/machine: the build passes LDM_BYTES, DMA_LONGEST, DMA_LARGEST_BLOCK,
 * DMA_REQUEST, CPE_HERTZ and FIFO_DEPTH. */
#ifndef SWEMU_MACHINE_H
#define SWEMU_MACHINE_H

#if SWEMU_MACHINE == 26010
#define MACHINE_NAME "sw26010"
#define IS_PRO 0
#define MAX_GROUPS 1
#elif SWEMU_MACHINE == 26011
#define MACHINE_NAME "sw26010-pro"
#define IS_PRO 1
#define MAX_GROUPS 6
#else
#error "SWEMU_MACHINE must be 26010 or 26011"
#endif
#if !defined(LDM_BYTES) || !defined(DMA_LONGEST) || !defined(DMA_LARGEST_BLOCK) || !defined(DMA_REQUEST) || \
    !defined(CPE_HERTZ) || !defined(FIFO_DEPTH)
#error "the numbers of the machine file are missing"
#endif

#endif
