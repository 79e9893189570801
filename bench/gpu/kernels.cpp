// SPDX-License-Identifier: Apache-2.0
// main() of the tests of kernels on a card. They have arrays and variables of the host, and read results
// without waiting for them. So here all that new gives, the stack, and constants and static variables are
// memory that the card reaches, and each launch waits for its kernel.
#define DOCTEST_CONFIG_IMPLEMENT
#include <cuda_runtime.h>
#include <doctest/doctest.h>
#include <hwy/targets.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>

#include <bit>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

#include "hardware/cuda/queue.hpp"
#include "sinter/hardware/card.hpp"

namespace {

/// Memory that the card reaches, given in powers of two. What is asked for before it is opened is the
/// host's alone.
class Reachable {
 public:
  static constexpr std::size_t bytes = std::size_t{2} << 30;

  void open() {
    next = sinter::kernel::take_host_memory(bytes);
    if (next) {
      end = next + bytes;
      return;
    }
    std::fprintf(stderr, "The host gives no %zu bytes that the card reaches.\n", bytes);
    std::exit(1);
  }
  void* take(std::size_t size) {
    const std::size_t whole = std::bit_ceil(size + sizeof(Head));
    const std::scoped_lock lock(mutex);
    Head*& list = lists[std::countr_zero(whole)];
    if (list) return std::exchange(list, list->next) + 1;
    if (!next) return new (std::aligned_alloc(alignof(Head), whole)) Head{0, nullptr} + 1;
    if (whole > std::size_t(end - next)) throw std::bad_alloc();
    return new (std::exchange(next, next + whole)) Head{std::countr_zero(whole), nullptr} + 1;
  }
  void give(void* at) {
    if (!at) return;
    Head* head = static_cast<Head*>(at) - 1;
    if (!head->power) return std::free(head);
    const std::scoped_lock lock(mutex);
    head->next = std::exchange(lists[head->power], head);
  }

 private:
  struct alignas(64) Head {
    int power;  ///< of two; 0 for memory of the host alone
    Head* next;
  };
  std::mutex mutex;
  std::byte *next = nullptr, *end = nullptr;
  Head* lists[64] = {};
};
constinit Reachable reachable;

/// Lets the card reach what the program itself has of data. Pages that are only read are made writable, as
/// no others can be registered.
int register_data(dl_phdr_info* program, std::size_t, void*) {
  constexpr std::uintptr_t page = 4096;
  for (int k = 0; k < program->dlpi_phnum; ++k) {
    const ElfW(Phdr)& part = program->dlpi_phdr[k];
    if (part.p_type != PT_LOAD || part.p_flags & PF_X) continue;
    const std::uintptr_t from = (program->dlpi_addr + part.p_vaddr) / page * page;
    const std::uintptr_t to =
        (program->dlpi_addr + part.p_vaddr + part.p_memsz + page - 1) / page * page;
    void* at = reinterpret_cast<void*>(from);
    cudaError_t error = cudaErrorInvalidValue;
    if (mprotect(at, to - from, PROT_READ | PROT_WRITE) == 0)
      error = cudaHostRegister(at, to - from, cudaHostRegisterDefault);
    if (error != cudaSuccess)
      std::fprintf(stderr, "The card does not reach data of the program: %s.\n",
                   cudaGetErrorString(error));
    cudaGetLastError();  // it is told
  }
  return 1;  // no libraries
}

struct Arguments {
  int count;
  char** words;
};
void* run_tests(void* given) {
  const auto* arguments = static_cast<const Arguments*>(given);
  sinter::detail::open_card(0);
  const int status = doctest::Context(arguments->count, arguments->words).run();
  return reinterpret_cast<void*>(std::intptr_t(status));
}

}  // namespace

void* operator new(std::size_t size) { return reachable.take(size); }
void* operator new(std::size_t size, std::align_val_t) { return reachable.take(size); }
void operator delete(void* at) noexcept { reachable.give(at); }
void operator delete(void* at, std::size_t) noexcept { reachable.give(at); }
void operator delete(void* at, std::align_val_t) noexcept { reachable.give(at); }
void operator delete(void* at, std::size_t, std::align_val_t) noexcept { reachable.give(at); }

int main(int argc, char** argv) {
  setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
  hwy::SetSupportedTargetsForTest(HWY_SCALAR);  // a card has none of the host's instruction sets
  sinter::detail::open_card(0);
  reachable.open();
  dl_iterate_phdr(register_data, nullptr);
  constexpr std::size_t stack_bytes = std::size_t{64} << 20;
  pthread_attr_t with_stack;
  pthread_attr_init(&with_stack);
  pthread_attr_setstack(&with_stack, reachable.take(stack_bytes), stack_bytes);
  Arguments arguments{argc, argv};
  pthread_t thread;
  void* status = nullptr;
  if (pthread_create(&thread, &with_stack, run_tests, &arguments)) std::abort();
  pthread_join(thread, &status);
  return int(reinterpret_cast<std::intptr_t>(status));
}
