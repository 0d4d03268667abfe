// Runs the blocks of a launch on the host, one after the other. The threads of a block take turns: one runs until it waits for others,
// at a barrier or at an operation of its simdgroup, or until it is over. A thread that waits keeps its stack.
//
// Lanes that wait at the same place of the program go on together: the place that comes first in the program before the others, and of
// turns of a loop the earlier before the later, so that lanes that have parted meet again where the branch or the turn ends. A place is
// the addresses that are returned to, and the loops around them (SimLoop) with their turns. Code without optimisation lies in the
// order in which it is written.
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

typedef unsigned int uint;
typedef unsigned long ulong;
typedef uint uint3 __attribute__((ext_vector_type(3)));
struct SimThread {
  uint3 thread_index, block, block_size, grid;
  uint lane, lanes;
};
struct SimGroup {
  ulong active;
  uint words[64];
};
struct SimLoop {
  SimLoop();
  ~SimLoop();
  SimLoop* outer;
  void *place, *frame;
  uint turns;
  bool entered;
};
typedef std::vector<std::pair<void*, uint>> Place;  // the outermost first
typedef void Body(const void*, const void*, void*);

namespace {

const uint kLanes = 32;
const size_t kStack = 256 << 10;
enum State { kNew, kReady, kBarrier, kGather, kDone };

struct Fiber {
  ucontext_t context;
  void* base = nullptr;
};
struct Waiting {
  State state = kNew;
  Fiber* fiber = nullptr;
  Place place;
  SimLoop* loop = nullptr;
  uint word = 0;
  SimGroup* group = nullptr;
  SimThread self;
};

Body* body;
const void *arguments, *launch_info;
void* shared;
std::vector<Waiting> threads;
std::vector<Fiber*> idle;
std::deque<uint> ready;
uint current, fresh;
Fiber* running;
ucontext_t scheduler;

void fiber_main() {
  running->base = __builtin_frame_address(0);
  for (;;) {
    while (fresh < threads.size()) {
      current = fresh++;
      body(arguments, launch_info, shared);
      threads[current].state = kDone;
    }
    Fiber* own = running;
    idle.push_back(own);
    swapcontext(&own->context, &scheduler);
  }
}

void resume(Fiber* fiber) {
  running = fiber;
  swapcontext(&scheduler, &fiber->context);
}

Fiber* make_fiber() {
  Fiber* fiber = new Fiber;
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp =
      mmap(nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  fiber->context.uc_stack.ss_size = kStack;
  fiber->context.uc_link = nullptr;
  makecontext(&fiber->context, fiber_main, 0);
  return fiber;
}

__attribute__((noinline)) void wait(State state, void* frame) {
  Waiting& self = threads[current];
  self.state = state;
  self.place.clear();
  SimLoop* loop = self.loop;
  for (void** at = (void**)frame; at != running->base; at = (void**)at[0]) {
    self.place.push_back({at[1], 0});
    for (; loop && loop->frame == at[0]; loop = loop->outer)
      self.place.push_back({loop->place, state == kBarrier ? 0 : loop->turns});
  }
  std::reverse(self.place.begin(), self.place.end());
  self.fiber = running;
  uint mine = current;
  swapcontext(&self.fiber->context, &scheduler);
  current = mine;
}

void go_on(uint index) {
  threads[index].state = kReady;
  ready.push_back(index);
}

// Let the lanes of a simdgroup go on that wait at the first place; whether there are any.
bool release_lanes(uint first, uint last) {
  const Place* place = nullptr;
  for (uint i = first; i < last; i++)
    if (threads[i].state == kGather && (!place || threads[i].place < *place)) place = &threads[i].place;
  if (!place) return false;
  SimGroup group = {0, {}};
  std::vector<uint> members;
  for (uint i = first; i < last; i++)
    if (threads[i].state == kGather && threads[i].place == *place) members.push_back(i);
  for (uint i : members) {
    group.active |= 1ul << (i - first);
    group.words[i - first] = threads[i].word;
  }
  for (uint i : members) {
    *threads[i].group = group;
    go_on(i);
  }
  return true;
}

// Let waiting threads go on. 0: some do; 1: all are over; 2: they wait at different barriers.
int release() {
  bool some = false;
  for (uint first = 0; first < threads.size(); first += kLanes)
    some |= release_lanes(first, std::min<uint>(first + kLanes, threads.size()));
  if (some) return 0;
  const Place* place = nullptr;
  for (Waiting& thread : threads) {
    if (thread.state != kBarrier) continue;
    if (place && thread.place != *place) return 2;
    place = &thread.place;
  }
  if (!place) return 1;
  for (uint i = 0; i < threads.size(); i++)
    if (threads[i].state == kBarrier) go_on(i);
  return 0;
}

int run_block() {
  ready.clear();
  fresh = 0;
  for (;;) {
    if (!ready.empty()) {
      current = ready.front();
      ready.pop_front();
      resume(threads[current].fiber);
    } else if (fresh < threads.size()) {
      Fiber* fiber = idle.empty() ? make_fiber() : idle.back();
      if (!idle.empty()) idle.pop_back();
      resume(fiber);
    } else if (int end = release()) {
      return end - 1;
    }
  }
}

}  // namespace

__attribute__((noinline)) SimLoop::SimLoop() {
  void** own = (void**)__builtin_frame_address(0);
  outer = threads[current].loop;
  place = own[1];
  frame = own[0];
  turns = 0;
  entered = false;
  threads[current].loop = this;
}
SimLoop::~SimLoop() { threads[current].loop = outer; }

extern "C" {
const SimThread* sim_thread() { return &threads[current].self; }
__attribute__((noinline)) void sim_barrier() { wait(kBarrier, __builtin_frame_address(0)); }
__attribute__((noinline)) void sim_gather(uint word, SimGroup* group) {
  threads[current].word = word;
  threads[current].group = group;
  wait(kGather, __builtin_frame_address(0));
}

// 0: all blocks have run; 1: threads of a block waited at different barriers.
int sim_run(Body* what, const void* args, const void* launch, ulong shared_bytes, const uint* grid, const uint* block) {
  body = what;
  arguments = args;
  launch_info = launch;
  std::vector<ulong> memory(shared_bytes / 8 + 1);
  shared = memory.data();
  uint count = block[0] * block[1] * block[2];
  for (uint z = 0; z < grid[2]; z++)
    for (uint y = 0; y < grid[1]; y++)
      for (uint x = 0; x < grid[0]; x++) {
        threads.assign(count, Waiting());
        for (uint i = 0; i < count; i++) {
          uint3 index = {i % block[0], i / block[0] % block[1], i / (block[0] * block[1])};
          threads[i].self = {index, {x, y, z}, {block[0], block[1], block[2]}, {grid[0], grid[1], grid[2]}, i % kLanes, kLanes};
        }
        memset(shared, 0xa5, shared_bytes);
        if (int problem = run_block()) return problem;
      }
  return 0;
}
}
