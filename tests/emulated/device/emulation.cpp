// SPDX-License-Identifier: Apache-2.0
#include "emulated/device/emulation.hpp"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "emulated/device/emulated_memory.hpp"

#if !defined(__x86_64__)
#error "The emulated device switches stacks by instructions of x86-64."
#endif

// Pushes what a call must keep on this stack, leaves the stack in *from, and goes on where another
// one was left.
extern "C" void sinter_switch_stack(void** from, void* to);
asm(R"(
.text
.globl sinter_switch_stack
.type sinter_switch_stack,@function
sinter_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size sinter_switch_stack,.-sinter_switch_stack
)");

namespace sinter::kernel::emulated {

thread_local Thread* current = nullptr;
thread_local dim3 block_index, block_size, grid_size;
thread_local std::byte* shared = nullptr;

namespace {

constexpr std::size_t stack_bytes = std::size_t{128} << 10, page = 4096;

/// A stack, above a page that nobody can touch.
struct Fiber {
  std::byte* stack;
  void* at = nullptr;  // where it was left

  explicit Fiber(std::size_t number, void (*main)());
  ~Fiber() { munmap(stack, stack_bytes); }
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
};

/// Stacks begin at different places of their pages, or all would share a few lines of the cache.
Fiber::Fiber(std::size_t number, void (*main)()) {
  void* memory = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) refuse("so many threads: there is no memory for their stacks");
  stack = static_cast<std::byte*>(memory);
  mprotect(stack, page, PROT_NONE);
  const std::size_t colour = number * 832 % 16384;
  void** top = reinterpret_cast<void**>(stack + stack_bytes - colour) - 3;
  *--top = reinterpret_cast<void*>(main);
  at = top - 6;  // registers, which main does not read
}

struct Lane : Thread {
  Fiber* fiber = nullptr;
};

struct Warp {
  std::uint64_t places[2][lanes];
  int waiting = 0;
};

/// A ring of threads that may go on.
class Ready {
 public:
  void clear(std::size_t most) {
    ring.assign(most, nullptr);
    head = count = 0;
  }
  bool empty() const { return count == 0; }
  void push(Lane* lane) { ring[(head + count++) % ring.size()] = lane; }
  Lane* first() {
    Lane* lane = ring[head];
    head = (head + 1) % ring.size();
    --count;
    return lane;
  }
  Lane* last() { return ring[(head + --count) % ring.size()]; }

 private:
  std::vector<Lane*> ring;
  std::size_t head = 0, count = 0;
};

/// The block at hand.
struct Block {
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<Fiber*> idle;
  std::vector<Lane> threads;
  std::vector<Warp> warps;
  std::vector<Lane*> at_barrier;
  Ready ready;
  int order = 0, started = 0, alive = 0;
  void (*body)(const void*) = nullptr;
  const void* closure = nullptr;
  void* scheduler = nullptr;

  int size() const { return int(threads.size()); }
  Lane& start_next() {
    const int place = started++;
    return threads[std::size_t(order & 1 ? size() - 1 - place : place)];
  }
  /// Lets all go on that wait at the barrier, if nobody is missing.
  void release_if_complete() {
    if (int(at_barrier.size()) < alive) return;
    const std::size_t n = at_barrier.size();
    for (std::size_t k = 0; k < n; ++k) ready.push(at_barrier[(k + std::size_t(order)) % n]);
    at_barrier.clear();
  }
  void prepare(dim3 block, int in_order);
  void run();
};
thread_local Block* block = nullptr;

Lane* me() { return static_cast<Lane*>(current); }
Warp& my_warp() { return block->warps[std::size_t(current->number / lanes)]; }

void leave() { sinter_switch_stack(&me()->fiber->at, block->scheduler); }

/// A fiber takes one thread after the other, for as long as none of them waits.
void fiber_main() {
  for (;;) {
    Fiber* mine = block->idle.back();
    block->idle.pop_back();
    while (block->started < block->size()) {
      Lane& lane = block->start_next();
      lane.fiber = mine;
      current = &lane;
      block->body(block->closure);
      --block->alive;
      if (!block->at_barrier.empty()) block->release_if_complete();
      // A thread that went on behind a wait has left others that are ready, too.
      if (!block->ready.empty()) break;
    }
    block->idle.push_back(mine);
    sinter_switch_stack(&mine->at, block->scheduler);
  }
}

void Block::prepare(dim3 size, int in_order) {
  const int total = int(size.x * size.y * size.z);
  order = in_order;
  threads.assign(std::size_t(total), {});
  warps.assign(std::size_t((total + lanes - 1) / lanes), {});
  ready.clear(std::size_t(total) + 1);
  for (int t = 0; t < total; ++t) {
    threads[std::size_t(t)].number = t;
    threads[std::size_t(t)].index = {unsigned(t) % size.x, unsigned(t) / size.x % size.y,
                                     unsigned(t) / (size.x * size.y)};
  }
}

void Block::run() {
  started = 0;
  alive = size();
  while (alive > 0) {
    Fiber* next = nullptr;
    if (!ready.empty()) {
      Lane* lane = order & 2 ? ready.last() : ready.first();
      current = lane;
      next = lane->fiber;
    } else if (started < size()) {
      if (idle.empty()) {
        fibers.push_back(std::make_unique<Fiber>(fibers.size(), fiber_main));
        idle.push_back(fibers.back().get());
      }
      next = idle.back();
    } else {
      std::fprintf(stderr, "%d threads of block (%u, %u, %u) wait at a barrier.\n",
                   int(at_barrier.size()), block_index.x, block_index.y, block_index.z);
      refuse("a wait for threads that do not come");
    }
    sinter_switch_stack(&scheduler, next->at);
  }
}

}  // namespace

void refuse(const char* what) {
  std::fprintf(stderr, "Sinter: the emulated device refuses %s.\n", what);
  std::abort();
}

bool runs_ahead() { return block->order & 2; }

void wait_for_block() {
  block->at_barrier.push_back(me());
  block->release_if_complete();
  leave();
}

int lanes_of_warp() { return std::min(block->size() - current->number / lanes * lanes, lanes); }

bool last_of_warp() { return my_warp().waiting == lanes_of_warp() - 1; }

void wait_for_warp() {
  Warp& warp = my_warp();
  const int all = lanes_of_warp();
  if (++warp.waiting < all) return leave();
  warp.waiting = 0;
  Lane* first = &block->threads[std::size_t(current->number / lanes * lanes)];
  for (int k = 0; k < all; ++k) {
    Lane* lane = first + (k + block->order) % all;
    if (lane != me()) block->ready.push(lane);
  }
}

std::uint64_t* exchange() { return my_warp().places[current->parity ^= 1]; }

void run(dim3 grid, dim3 size, int shared_bytes, int order, void (*body)(const void*),
         const void* closure) {
  static thread_local Block all;
  const Opened memory;
  if (std::exchange(block, &all)) refuse("a kernel that launches another");
  all.body = body;
  all.closure = closure;
  std::vector<std::byte> bytes(std::size_t(shared_bytes) + 64);
  shared = bytes.data() + (64 - reinterpret_cast<std::uintptr_t>(bytes.data()) % 64) % 64;
  all.prepare(size, order);
  block_size = size;
  grid_size = grid;
  const std::uint64_t blocks = std::uint64_t(grid.x) * grid.y * grid.z;
  for (std::uint64_t k = 0; k < blocks; ++k) {
    const std::uint64_t at = order & 1 ? blocks - 1 - k : k;
    block_index = {unsigned(at % grid.x), unsigned(at / grid.x % grid.y),
                   unsigned(at / grid.x / grid.y)};
    std::memset(bytes.data(), 0xff, bytes.size());
    all.run();
  }
  block = nullptr;
}

}  // namespace sinter::kernel::emulated
