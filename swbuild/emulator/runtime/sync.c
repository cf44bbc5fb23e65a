/* Barriers: every CPE of the set arrives with the same set, then all go on. */
#include "swemu.h"

static bool same(const struct cpe *a, const struct cpe *b)
{
    return a->cg == b->cg && a->arrived_mask == b->arrived_mask && a->arrived_kind == b->arrived_kind;
}

/* Arrive at the barrier of the CPEs in mask (bits are _PEN); wait for the others. */
void swemu_sync(struct cpe *c, uint64_t mask, int kind, const char *what, uintptr_t pc)
{
    if (!(mask >> c->pen & 1))
        swemu_fault(c, pc, "SW630", "a CPE may only wait in a set that it belongs to",
                    "%s: the synchronisation vector %#llx does not contain this CPE (SYNE1)", what,
                    (unsigned long long)mask);
    c->barriers++;
    swemu_site(c, pc, OP_BARRIER)->calls++;
    swemu_commit_staged(c);
    swemu_trace_sync(c, mask, kind == 1 ? 2 : kind == 2 ? 0 : kind == 3 ? 1 : 3, pc);
    swemu_lock();
    c->arrived_mask = mask;
    c->arrived_kind = kind;
    uint64_t here = 0;
    struct cpe *const *group = &swemu.cpes[c->cg * SWEMU_CPES];
    for (int k = 0; k < SWEMU_CPES; k++)
        if (group[k]->arrived_mask && same(group[k], c))
            here |= 1ULL << k;
    if (here != mask) {
        while (c->arrived_mask) /* a message for this CPE wakes it, too */
            swemu_sched_block(c, what, pc);
    } else {
        swemu_check_meet(c, mask);
        for (int k = 0; k < SWEMU_CPES; k++)
            if (mask >> k & 1) {
                group[k]->arrived_mask = 0;
                if (group[k] != c)
                    swemu_sched_wake(group[k]);
            }
    }
    swemu_unlock();
}

enum { SYNC_ARRAY = 1, SYNC_ROW, SYNC_COL };

static uint64_t row_set(const struct cpe *c, int columns) { return ((uint64_t)columns & SWEMU_FIRST_ROW) << c->row * MESH_COLUMNS; }

static uint64_t column_set(const struct cpe *c, int rows)
{
    uint64_t set = 0;
    for (int r = 0; r < MESH_ROWS; r++)
        if (rows >> r & 1)
            set |= 1ULL << (r * MESH_COLUMNS + c->col);
    return set;
}

static uint64_t mesh_set(int columns, int rows)
{
    uint64_t set = 0;
    for (int r = 0; r < MESH_ROWS; r++)
        if (rows >> r & 1)
            set |= ((uint64_t)columns & SWEMU_FIRST_ROW) << r * MESH_COLUMNS;
    return set;
}

static int syn(int scope, int mask, uintptr_t pc)
{
    struct cpe *c = swemu_enter(pc, "athread_syn");
    if (scope == 0)
        swemu_sync(c, row_set(c, mask), SYNC_ROW, "athread_syn(ROW_SCOPE)", pc);
    else if (scope == 1)
        swemu_sync(c, column_set(c, mask), SYNC_COL, "athread_syn(COL_SCOPE)", pc);
    else if (scope == 2)
        swemu_sync(c, mesh_set(mask, mask >> MESH_COLUMNS), SYNC_ARRAY, "athread_syn(ARRAY_SCOPE)", pc);
    else
        swemu_fault(c, pc, "SW631", "use ROW_SCOPE, COL_SCOPE or ARRAY_SCOPE", "athread_syn: unknown scope %d", scope);
    return 0;
}

int slave_athread_syn(int scope, int mask);
int slave_athread_syn(int scope, int mask) { return syn(scope, mask, CALLER()); }
int __swemu_syn(int scope, int mask);
int __swemu_syn(int scope, int mask) { return syn(scope, mask, CALLER()); }

int slave_athread_ssync_array(void);
int slave_athread_ssync_array(void)
{
    struct cpe *c = swemu_enter(CALLER(), "athread_ssync_array");
    swemu_sync(c, SWEMU_ALL, SYNC_ARRAY, "athread_ssync_array", CALLER());
    return 0;
}

#if HAS_CRTS
enum { SYNC_PEER = 4, SYNC_NODE, SYNC_MASTER };

int __swemu_ssync(int scope, int mask);
int __swemu_ssync(int scope, int mask)
{
    uintptr_t pc = CALLER();
    struct cpe *c = swemu_enter(pc, "athread_ssync");
    if (scope == 0)
        swemu_sync(c, row_set(c, mask), SYNC_ROW, "athread_ssync(ROW_SCOPE)", pc);
    else if (scope == 1)
        swemu_sync(c, column_set(c, mask), SYNC_COL, "athread_ssync(COL_SCOPE)", pc);
    else if (scope == 3 && mask >= 0 && mask < SWEMU_CPES)
        swemu_sync(c, 1ULL << mask | 1ULL << c->pen, SYNC_PEER, "athread_ssync(PP_SCOPE)", pc);
    else
        swemu_fault(c, pc, "SW631", "use athread_ssync_array for all CPEs",
                    "athread_ssync: scope %d would return from the kernel on the machine", scope);
    return 0;
}

int slave_athread_ssync_node(void);
int slave_athread_ssync_node(void)
{
    swemu_sync(swemu_enter(CALLER(), "athread_ssync_node"), SWEMU_ALL, SYNC_NODE, "athread_ssync_node", CALLER());
    return 0;
}

static int master_generation;

/* All CPEs and the host meet: the CPEs meet first, then wait for the host to come by. */
int slave_athread_ssync_master_array(void);
int slave_athread_ssync_master_array(void)
{
    uintptr_t pc = CALLER();
    struct cpe *c = swemu_enter(pc, "athread_ssync_master_array");
    int seen = __atomic_load_n(&master_generation, __ATOMIC_ACQUIRE);
    swemu_sync(c, SWEMU_ALL, SYNC_MASTER, "athread_ssync_master_array", pc);
    if (c->pen == 0)
        __atomic_store_n(&swemu.array_waits, true, __ATOMIC_RELEASE);
    for (unsigned n = 0; __atomic_load_n(&master_generation, __ATOMIC_ACQUIRE) == seen; n++)
        swemu_relax_at(n, NULL, pc);
    return 0;
}

int athread_sync_master_array(void);
int athread_sync_master_array(void)
{
    for (unsigned n = 0; !__atomic_exchange_n(&swemu.array_waits, false, __ATOMIC_ACQ_REL); n++)
        swemu_relax_at(n, NULL, CALLER());
    __atomic_add_fetch(&master_generation, 1, __ATOMIC_RELEASE);
    return 0;
}
#endif
