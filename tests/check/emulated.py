"""A region offloaded by hand in the style of generated code: rows to cores, chunks of a row by DMA."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from handmade import make_model, make_unit

from swbuild.codegen.unit import GeneratedFile, GeneratedUnit
from swbuild.frontend.request import SourceModel

__all__ = ["SLAVE", "make_emulated"]

HEADER = """\
struct smooth_arguments {
    int n, m;
    double *A, *B, *w, *sum, *last;
};
"""

HOST = """\
#include <athread.h>
#include "factor.h"
#include "smooth.sw.h"
extern void SLAVE_FUN(smooth_k0)(void *);
static int ready;
int sw_smooth(int n, int m, double *A, double *B, double *w, double *sum, double *last)
{
    struct smooth_arguments a = { n, m, A, B, w, sum, last };
    int i, j;
    if (!ready) {
        athread_init();
        ready = 1;
    }
    athread_spawn(smooth_k0, &a);
    athread_join();
    for (i = 0; i < n; i++)
        for (j = 1; j < m; j++) {
            *sum += B[i * m + j];
            *last = B[i * m + j];
        }
    return 0;
}
"""

SLAVE = """\
#include <slave.h>
#include "factor.h"
#include "smooth.sw.h"
#define CHUNK 8
static __thread_local double a[CHUNK + 1], b[CHUNK], w[CHUNK];
static __thread_local volatile int reply;
void smooth_k0(struct smooth_arguments *g)
{
    int rid = _MYID / 8, cid = _MYID % 8;
    int i, j, c, count;
    for (i = rid; i < g->n; i += 8)
        for (c = cid; 1 + c * CHUNK < g->m; c += 8) {
            j = 1 + c * CHUNK;
            count = g->m - j < CHUNK ? g->m - j : CHUNK;
            reply = 0;
            athread_get(PE_MODE, g->A + i * g->m + j - 1, a, (count + 1) * 8, (void *)&reply, 0, 0, 0);
            athread_get(PE_MODE, g->w + j, w, count * 8, (void *)&reply, 0, 0, 0);
            while (reply != 2);
            for (int k = 0; k < count; k++)
                b[k] = FACTOR * (a[k] + a[k + 1]) + w[k];
            reply = 0;
            athread_put(PE_MODE, b, g->B + i * g->m + j, count * 8, (void *)&reply, 0, 0);
            while (reply != 1);
        }
}
"""


def make_emulated(directory: Path, slave: str = SLAVE, host: str = HOST) -> tuple[SourceModel, GeneratedUnit]:
    """Return the model and the unit with host and slave files of its own."""
    model = make_model(directory)
    unit = dataclasses.replace(
        make_unit(model, host),
        slave=GeneratedFile("smooth.slave.c", slave),
        header=GeneratedFile("smooth.sw.h", HEADER),
    )
    return model, unit
