/* The figures of the machine that the runtime is for: its file in swbuild/machine has them, the build defines them.
 *
 * HAS_CRTS: the interface of the newer generation; HAS_RMA, HAS_REGISTERS: how CPEs talk to each other. */
#ifndef SWEMU_MACHINE_H
#define SWEMU_MACHINE_H

#if !defined(MACHINE_NAME) || !defined(HAS_CRTS) || !defined(HAS_RMA) || !defined(HAS_REGISTERS) ||      \
    !defined(CORE_GROUPS) || !defined(MESH_ROWS) || !defined(MESH_COLUMNS) || !defined(MESH_CPES) ||     \
    !defined(LAST_CPE) || !defined(LDM_BYTES) || !defined(DCACHE_LINE_BYTES) || !defined(DMA_LONGEST) || \
    !defined(DMA_LARGEST_BLOCK) || !defined(DMA_REQUEST) || !defined(CPE_HERTZ) || !defined(FIFO_DEPTH) || \
    !defined(REGISTER_BYTES)
#error "the numbers of the machine file are missing"
#endif

#if HAS_CRTS
#define MAX_GROUPS CORE_GROUPS
#else
#define MAX_GROUPS 1
#endif
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

#endif
