/* A CUDA driver whose one device is this machine's CPU, for tests.

   Memory of the device is memory of the process. The threads of a block are fibers that run one after another until
   they have to wait; blocks run one after another. Code is not assembled here: `standin_set_loader` names the function
   that gives, for an image, the entry that runs one thread, and the bytes of its parameters. */

#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define MOST 1024
#define STACK (256 << 10)
#define WARP 32

enum { RUNNING, AT_BARRIER, AT_MEETING, AT_WARP };

typedef void (*entry_t)(const uint64_t *words);

static struct {
    ucontext_t main, fiber[MOST];
    char *stacks;
    int done[MOST], state[MOST], place[MOST], vote[MOST];
    uint32_t mask[MOST], word[MOST], wanted[MOST];
    int n, live, current, idle, stuck;
    uint32_t grid[3], block[3], index[3], shared_bytes;
    entry_t entry;
    const uint64_t *words;
} sim;

/* Scheduling */

static void to_next(void)
{
    int from = sim.current;
    for (int step = 1; step <= sim.n; step++) {
        int t = (from + step) % sim.n;
        if (!sim.done[t]) {
            sim.current = t;
            if (t != from)
                swapcontext(&sim.fiber[from], &sim.fiber[t]);
            return;
        }
    }
}

static void wait_turn(void)
{
    if (++sim.idle > 3 * sim.n + 8) {
        sim.stuck = 1;
        swapcontext(&sim.fiber[sim.current], &sim.main);
    }
    to_next();
}

static void run_thread(void)
{
    sim.entry(sim.words);
    sim.done[sim.current] = 1;
    sim.live--;
    sim.idle = 0;
    if (!sim.live)
        setcontext(&sim.main);
    to_next();
    abort();
}

static void run_block(void)
{
    sim.live = sim.n;
    sim.idle = 0;
    for (int t = 0; t < sim.n; t++) {
        sim.done[t] = 0;
        sim.state[t] = RUNNING;
        getcontext(&sim.fiber[t]);
        sim.fiber[t].uc_stack.ss_sp = sim.stacks + (size_t)t * STACK;
        sim.fiber[t].uc_stack.ss_size = STACK;
        sim.fiber[t].uc_link = NULL;
        makecontext(&sim.fiber[t], run_thread, 0);
    }
    sim.current = 0;
    swapcontext(&sim.main, &sim.fiber[0]);
}

static int run_grid(entry_t entry, const uint64_t *words)
{
    sim.entry = entry;
    sim.words = words;
    sim.stuck = 0;
    sim.n = sim.block[0] * sim.block[1] * sim.block[2];
    if (!sim.stacks)
        sim.stacks = mmap(NULL, (size_t)MOST * STACK, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (uint32_t z = 0; z < sim.grid[2]; z++)
        for (uint32_t y = 0; y < sim.grid[1]; y++)
            for (uint32_t x = 0; x < sim.grid[0]; x++) {
                sim.index[0] = x, sim.index[1] = y, sim.index[2] = z;
                run_block();
                if (sim.stuck)
                    return 719; /* CUDA_ERROR_LAUNCH_FAILED */
            }
    return 0;
}

/* What threads ask and do: the names are those of the intrinsics with _ for . */

static uint32_t axis(int which)
{
    uint32_t t = sim.current, x = sim.block[0], y = sim.block[1];
    return which == 0 ? t % x : which == 1 ? t / x % y : t / x / y;
}

#define REGISTER(name, value) uint32_t sim_read_ptx_sreg_##name(void) { return value; }
REGISTER(tid_x, axis(0))
REGISTER(tid_y, axis(1))
REGISTER(tid_z, axis(2))
REGISTER(ntid_x, sim.block[0])
REGISTER(ntid_y, sim.block[1])
REGISTER(ntid_z, sim.block[2])
REGISTER(ctaid_x, sim.index[0])
REGISTER(ctaid_y, sim.index[1])
REGISTER(ctaid_z, sim.index[2])
REGISTER(nctaid_x, sim.grid[0])
REGISTER(laneid, (uint32_t)sim.current % WARP)
REGISTER(lanemask_lt, (1u << sim.current % WARP) - 1)
REGISTER(dynamic_smem_size, sim.shared_bytes)

static void block_barrier(void)
{
    int me = sim.current;
    sim.state[me] = AT_BARRIER;
    for (;;) {
        if (sim.state[me] == RUNNING)
            return;
        int all = 1;
        for (int t = 0; t < sim.n && all; t++)
            all = sim.done[t] || sim.state[t] == AT_BARRIER;
        if (all) {
            for (int t = 0; t < sim.n; t++)
                sim.state[t] = RUNNING;
            sim.idle = 0;
            return;
        }
        wait_turn();
    }
}

void sim_barrier_cta_sync_aligned_all(uint32_t number) { block_barrier(); }

static uint32_t count_votes(uint32_t vote, int *all)
{
    sim.vote[sim.current] = vote & 1;
    block_barrier();
    uint32_t count = 0;
    *all = 1;
    for (int t = 0; t < sim.n; t++)
        if (!sim.done[t])
            count += sim.vote[t], *all &= sim.vote[t];
    block_barrier();
    return count;
}

uint32_t sim_barrier_cta_red_popc_aligned_all(uint32_t number, uint32_t vote)
{
    int all;
    return count_votes(vote, &all);
}

uint32_t sim_barrier_cta_red_and_aligned_all(uint32_t number, uint32_t vote)
{
    int all;
    count_votes(vote, &all);
    return all;
}

uint32_t sim_barrier_cta_red_or_aligned_all(uint32_t number, uint32_t vote)
{
    int all;
    return count_votes(vote, &all) != 0;
}

/* Subgroups */

#define FIRST (sim.current / WARP * WARP)
#define FOR_LANES(t) for (int t = FIRST, end_ = FIRST + WARP < sim.n ? FIRST + WARP : sim.n; t < end_; t++)
#define IN(mask, t) ((mask) >> ((t) % WARP) & 1)

/* The lanes of a mask wait for each other. */
static void meet(uint32_t mask)
{
    int me = sim.current;
    sim.state[me] = AT_WARP;
    sim.wanted[me] = mask;
    for (;;) {
        if (sim.state[me] == RUNNING)
            return;
        int all = 1;
        FOR_LANES(t)
            if (IN(mask, t) && !sim.done[t])
                all &= sim.state[t] == AT_WARP && sim.wanted[t] == mask;
        if (all) {
            FOR_LANES(t)
                if (IN(mask, t))
                    sim.state[t] = RUNNING;
            sim.idle = 0;
            return;
        }
        wait_turn();
    }
}

/* Which lanes come to a place in the code together: when all lanes of the subgroup wait, those at the first place. */
uint32_t sim_activemask(uint32_t place)
{
    int me = sim.current;
    sim.state[me] = AT_MEETING;
    sim.place[me] = place;
    for (;;) {
        if (sim.state[me] == RUNNING)
            return sim.mask[me];
        int blocked = 1, first = 1 << 30;
        FOR_LANES(t) {
            if (sim.done[t])
                continue;
            blocked &= sim.state[t] != RUNNING;
            if (sim.state[t] == AT_MEETING && sim.place[t] < first)
                first = sim.place[t];
        }
        if (blocked && first == sim.place[me]) {
            uint32_t mask = 0;
            FOR_LANES(t)
                if (!sim.done[t] && sim.state[t] == AT_MEETING && sim.place[t] == first)
                    mask |= 1u << t % WARP;
            FOR_LANES(t)
                if (IN(mask, t))
                    sim.mask[t] = mask, sim.state[t] = RUNNING;
            sim.idle = 0;
            return mask;
        }
        wait_turn();
    }
}

void sim_bar_warp_sync(uint32_t mask) { meet(mask); }

uint32_t sim_shfl_sync_idx_i32(uint32_t mask, uint32_t value, uint32_t lane, uint32_t c)
{
    sim.word[sim.current] = value;
    meet(mask);
    uint32_t read = IN(mask, lane) ? sim.word[FIRST + lane % WARP] : 0xDEADBEEF; /* undefined on a device */
    meet(mask);
    return read;
}

static uint32_t ballot(uint32_t mask, uint32_t vote)
{
    sim.word[sim.current] = vote & 1;
    meet(mask);
    uint32_t result = 0;
    FOR_LANES(t)
        if (IN(mask, t) && sim.word[t])
            result |= 1u << t % WARP;
    meet(mask);
    return result;
}

uint32_t sim_vote_ballot_sync(uint32_t mask, uint32_t vote) { return ballot(mask, vote); }
uint32_t sim_vote_all_sync(uint32_t mask, uint32_t vote) { return ballot(mask, vote) == mask; }
uint32_t sim_vote_any_sync(uint32_t mask, uint32_t vote) { return ballot(mask, vote) != 0; }

uint32_t sim_match_any_sync_i32(uint32_t mask, uint32_t value)
{
    sim.word[sim.current] = value;
    meet(mask);
    uint32_t result = 0;
    FOR_LANES(t)
        if (IN(mask, t) && sim.word[t] == value)
            result |= 1u << t % WARP;
    meet(mask);
    return result;
}

/* The driver. Handles are addresses of small blocks, so that what is not given back is counted. */

typedef struct { entry_t entry; int bytes; } function_t;
typedef int (*loader_t)(const char *image, void **entry, int *bytes);

static loader_t loader;
static int live[4]; /* blocks of device memory, blocks of host memory, modules, streams and events */
static int fail_next, launches;
static int capability[2] = {9, 0};
static uint64_t last_words[512];

void standin_set_loader(loader_t function) { loader = function; }
void standin_set_capability(int major, int minor) { capability[0] = major, capability[1] = minor; }
void standin_fail_next(int result) { fail_next = result; }
int standin_live(int kind) { return live[kind]; }
int standin_launches(void) { return launches; }

#define CHECK do { if (fail_next) { int r_ = fail_next; fail_next = 0; return r_; } } while (0)

int cuInit(unsigned flags) { CHECK; return 0; }
int cuDriverGetVersion(int *version) { *version = 12090; return 0; }
int cuGetErrorName(int error, const char **text)
{
    *text = error == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : error == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : error == 719 ? "CUDA_ERROR_LAUNCH_FAILED" : error == 999 ? "CUDA_ERROR_UNKNOWN" : "CUDA_ERROR";
    return 0;
}
int cuGetErrorString(int error, const char **text) { *text = error == 2 ? "out of memory" : "failed"; return 0; }
int cuDeviceGetCount(int *count) { *count = 1; return 0; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return ordinal ? 101 : 0; }
int cuDeviceGetName(char *name, int length, int device) { strncpy(name, "Stand-in", length); return 0; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { *bytes = (size_t)1 << 30; return 0; }
int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    *value = attribute == 75 ? capability[0] : attribute == 76 ? capability[1] : attribute == 97 ? 227 << 10 : 1;
    return 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = &sim; return 0; }
int cuDevicePrimaryCtxRelease_v2(int device) { return 0; }
int cuCtxSetCurrent(void *context) { return context == &sim ? 0 : 201; }
int cuCtxSynchronize(void) { CHECK; return 0; }

int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options, void **values)
{
    CHECK;
    function_t *made = malloc(sizeof *made);
    int result = loader((const char *)image, (void **)&made->entry, &made->bytes);
    if (result) {
        free(made);
        return result;
    }
    live[2]++;
    *module = made;
    return 0;
}
int cuModuleUnload(void *module) { free(module); live[2]--; return 0; }
int cuModuleGetFunction(void **function, void *module, const char *name)
{
    *function = module;
    return strcmp(name, "qd_kernel") ? 500 : 0;
}
int cuFuncGetAttribute(int *value, int attribute, void *function)
{
    *value = attribute == 0 ? 512 : 32; /* larger blocks need code with fewer registers */
    return 0;
}
int cuFuncSetAttribute(void *function, int attribute, int value) { return 0; }

int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
    CHECK;
    if (bytes > ((size_t)1 << 30))
        return 2;
    *address = (uint64_t)aligned_alloc(256, (bytes + 255) / 256 * 256);
    memset((void *)*address, 0xA5, bytes);
    live[0]++;
    return 0;
}
int cuMemFree_v2(uint64_t address) { free((void *)address); live[0]--; return 0; }
int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags) { *pointer = malloc(bytes); live[1]++; return 0; }
int cuMemFreeHost(void *pointer) { free(pointer); live[1]--; return 0; }
int cuMemHostGetDevicePointer_v2(uint64_t *address, void *pointer, unsigned flags)
{
    *address = (uint64_t)pointer;
    return 0;
}
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t n) { CHECK; memcpy((void *)to, from, n); return 0; }
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t n) { CHECK; memcpy(to, (void *)from, n); return 0; }
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t n, void *stream)
{
    memcpy((void *)to, from, n);
    return 0;
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t n, void *stream)
{
    memcpy((void *)to, (void *)from, n);
    return 0;
}

int cuStreamCreate(void **stream, unsigned flags) { *stream = malloc(1); live[3]++; return 0; }
int cuStreamSynchronize(void *stream) { CHECK; return 0; }
int cuStreamDestroy_v2(void *stream) { free(stream); live[3]--; return 0; }
int cuStreamWaitEvent(void *stream, void *event, unsigned flags) { return 0; }
int cuEventCreate(void **event, unsigned flags) { *event = malloc(1); live[3]++; return 0; }
int cuEventRecord(void *event, void *stream) { return 0; }
int cuEventSynchronize(void *event) { return 0; }
int cuEventElapsedTime(float *milliseconds, void *first, void *last) { *milliseconds = 0; return 0; }
int cuEventDestroy_v2(void *event) { free(event); live[3]--; return 0; }

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared_bytes, void *stream, void **params, void **extra)
{
    CHECK;
    function_t *given = function;
    if (!gx || !gy || !gz || gy > 65535 || gz > 65535 || !bx || !by || !bz || bx * by * bz > MOST || bz > 64)
        return 1;
    size_t size = 0;
    const void *buffer = NULL;
    for (int i = 0; extra[i]; i += 2)
        if (extra[i] == (void *)1)
            buffer = extra[i + 1];
        else
            size = *(size_t *)extra[i + 1];
    if (size != (size_t)given->bytes || size > sizeof last_words)
        return 1;
    memcpy(last_words, buffer, size);
    unsigned grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
    memcpy(sim.grid, grid, sizeof grid);
    memcpy(sim.block, block, sizeof block);
    sim.shared_bytes = shared_bytes;
    launches++;
    return run_grid(given->entry, last_words);
}
