/* The event trace that the emulated core group writes and the timing model replays.
 *
 * One file per process: a header, then fixed-size little-endian records.  Records of different
 * CPEs may be interleaved in any way (each CPE may buffer its own); the records of one CPE stand
 * in the order in which that CPE executed the events.  What every field means for every kind is
 * told in trace.py. */
#ifndef SWB_TRACE_H
#define SWB_TRACE_H

#include <stdint.h>

#define SWB_TRACE_MAGIC 0x31525453u /* "STR1" */
#define SWB_TRACE_VERSION 1u
#define SWB_TRACE_HOST 255u         /* the cpe of records that the host writes */
#define SWB_TRACE_NONE 0xffffffffu  /* "no such LDM offset" */

struct swb_trace_header {
    uint32_t magic, version;
    uint32_t record_bytes; /* sizeof(struct swb_trace_record) */
    uint32_t flags;        /* bit 0: compute cycles were counted; bit 1: records were dropped;
                              bit 2: host code was counted */
};

struct swb_trace_record {
    uint8_t kind;     /* enum swb_trace_kind */
    uint8_t cpe;      /* 0..63, or SWB_TRACE_HOST */
    uint8_t mode;     /* depends on kind */
    uint8_t mask;     /* mesh rows of a broadcast DMA */
    uint32_t site;    /* 1-based index into the profile's call sites, 0 = unknown */
    uint64_t compute; /* model cycles that this CPE computed since its previous record */
    uint64_t address; /* main-memory address, or mask of CPEs */
    uint32_t ldm;     /* LDM offset of the data */
    uint32_t length;  /* bytes */
    uint32_t block;   /* bytes per block of a strided DMA, 0 = contiguous */
    uint32_t gap;     /* bytes between blocks */
    uint32_t reply;   /* LDM offset of the issuing CPE's reply word */
    uint32_t value;   /* depends on kind */
};

enum swb_trace_kind {
    SWB_KERNEL_BEGIN = 1,
    SWB_KERNEL_END = 2,
    SWB_SPAWN = 3,
    SWB_JOIN = 4,
    SWB_DMA_GET = 5,
    SWB_DMA_PUT = 6,
    SWB_RMA = 7,
    SWB_WAIT = 8,
    SWB_SYNC = 9,
    SWB_REG_PUT = 10,
    SWB_REG_GET = 11,
    SWB_ATOMIC = 12,
    SWB_DIRECT = 13,
    SWB_MARK = 14,
    SWB_HOST = 15,
};

enum swb_trace_rma { SWB_RMA_PUT = 0, SWB_RMA_GET = 1, SWB_RMA_BCAST = 2 };
enum swb_trace_reg { SWB_REG_ROW = 0, SWB_REG_COLUMN = 1 };

#endif
