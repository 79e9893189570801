// SPDX-License-Identifier: Apache-2.0
// After the first step our code allocates nothing. What the libraries that we call allocate is
// counted apart, listed and bounded.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <new>
#include <thread>

#include "program/models.hpp"
#include "sinter/kernels/matmul_rate.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/memory/offload.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parallel/split_batch.hpp"
#include "sinter/parallel/zero.hpp"
#include "sinter/precision/fp64.hpp"
#include "sinter/trainer/trainer.hpp"

namespace {

/// Who asked for memory while counting: addresses of the callers, on any thread.
struct Request {
  void* caller;
  std::size_t bytes;
};
constexpr int most = 1 << 16;
Request requests[most];
std::atomic<int> count{0};
std::atomic<bool> counting{false};

void note(void* caller, std::size_t bytes) {
  if (!counting.load(std::memory_order_relaxed)) return;
  int k = count++;
  if (k < most) requests[k] = {caller, bytes};
}

}  // namespace

// The program's own malloc, mmap and new, which all libraries use, too.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t bytes) {
  note(__builtin_return_address(0), bytes);
  return __libc_malloc(bytes);
}
void* calloc(std::size_t n, std::size_t bytes) {
  note(__builtin_return_address(0), n * bytes);
  return __libc_calloc(n, bytes);
}
void* realloc(void* at, std::size_t bytes) {
  note(__builtin_return_address(0), bytes);
  return __libc_realloc(at, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
  note(__builtin_return_address(0), bytes);
  return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  note(__builtin_return_address(0), bytes);
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** at, std::size_t alignment, std::size_t bytes) {
  note(__builtin_return_address(0), bytes);
  *at = __libc_memalign(alignment, bytes);
  return *at ? 0 : 12;
}
void* mmap(void* at, std::size_t bytes, int protection, int flags, int file, off_t offset) {
  note(__builtin_return_address(0), bytes);
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, bytes, protection, flags, file, offset));
}
}

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  note(__builtin_return_address(0), bytes);
  if (void* at = __libc_malloc(bytes)) return at;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new[](std::size_t bytes) {
  note(__builtin_return_address(0), bytes);
  if (void* at = __libc_malloc(bytes)) return at;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  note(__builtin_return_address(0), bytes);
  if (void* at = __libc_memalign(std::size_t(alignment), bytes)) return at;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* at) noexcept { std::free(at); }
[[gnu::noinline]] void operator delete[](void* at) noexcept { std::free(at); }
[[gnu::noinline]] void operator delete(void* at, std::size_t) noexcept { std::free(at); }
[[gnu::noinline]] void operator delete[](void* at, std::size_t) noexcept { std::free(at); }
[[gnu::noinline]] void operator delete(void* at, std::align_val_t) noexcept { std::free(at); }
[[gnu::noinline]] void operator delete(void* at, std::size_t, std::align_val_t) noexcept {
  std::free(at);
}

namespace sinter::detail::testing {
namespace {

/// Requests by the library they came from: how many, and how many bytes.
struct Sum {
  int requests = 0;
  std::size_t bytes = 0;
};
using ByLibrary = std::map<std::string, Sum>;

/// What is asked for while `work` runs. "": by this program, which our library is a part of.
ByLibrary allocations_of(const auto& work) {
  count = 0;
  counting = true;
  work();
  counting = false;
  REQUIRE(count < most);
  Dl_info own, theirs;
  dladdr(reinterpret_cast<void*>(&note), &own);
  ByLibrary result;
  for (int k = 0; k < count; ++k) {
    bool found = dladdr(requests[k].caller, &theirs) != 0;
    bool ours = found && theirs.dli_fbase == own.dli_fbase;
    std::string path = found ? theirs.dli_fname : "unknown";
    Sum& sum = result[ours ? "" : path.substr(path.rfind('/') + 1)];
    ++sum.requests;
    sum.bytes += requests[k].bytes;
  }
  return result;
}

/// What matrix products may take for packing, once for each thread.
constexpr int max_requests = 1000;
constexpr std::size_t max_bytes = 64 << 20;

/// Lists requests; those of libraries must stay within bounds, ours may be none after the first
/// step.
void check(const std::string& name, const ByLibrary& allocations, bool first) {
  if (allocations.empty()) std::printf("%s: nothing\n", name.c_str());
  for (const auto& [library, sum] : allocations) {
    std::printf("%s: %s: %d requests, %zu bytes\n", name.c_str(),
                library.empty() ? "our code" : library.c_str(), sum.requests, sum.bytes);
    if (!library.empty()) {
      CHECK(sum.requests <= max_requests);
      CHECK(sum.bytes <= max_bytes);
    } else if (!first) {
      CHECK_MESSAGE(sum.requests == 0, name << ": our code allocates");
    }
  }
}

template <class R>
void test(const std::string& name, const std::vector<HostBatch>& batches) {
  Trainer<R> trainer({.seed = 1, .threads = 2 * R::parallel::ranks(R::parallel::options)});
  kernel::matmul_library<float>();  // opens LibTorch, once for a program
  auto step = [&](int number) {
    Outcome outcome = trainer.step(batches[std::size_t(number) % batches.size()]);
    if (!std::holds_alternative<Applied>(outcome)) throw "a step was skipped";
  };
  check(name + ", step 1", allocations_of([&] { step(1); }), true);
  check(name + ", steps 2 to 10", allocations_of([&] {
          for (int s = 2; s <= 10; ++s) step(s);
        }),
        false);
  trainer.evaluate(batches[0]);
  check(name + ", second evaluation", allocations_of([&] { trainer.evaluate(batches[0]); }), false);
}

TEST_CASE("the counter counts") {
  auto allocations = allocations_of([] {
    std::vector<int> v(100);
    std::thread([&] { v.resize(200); }).join();
    std::free(std::malloc(10));
  });
  CHECK(allocations[""].requests >= 2);
  CHECK(allocations[""].bytes >= 1200);
}

struct Sentences {
  using slot = slot::data;
  static constexpr int context = 64, vocabulary = 11;
};
constexpr Gpt2Options wide{
    .layers = 2, .heads = 4, .width = 64, .vocabulary = 11, .positions = 64, .dropout = 0.1};
const std::vector<HostBatch> batches{letters({64, 64, 30, 64}, 1), letters({1, 64, 64, 17}, 2)};

TEST_CASE("our code allocates nothing in a step or an evaluation") {
  test<Made<Sentences, Gpt2<wide>, Batch<{.global = 4, .micro = 2}>>>("GPT-2, fp32", batches);
  test<Made<Sentences, Gpt2<wide>, Batch<{.global = 4, .micro = 4}>, Fp64,
            Checkpoint<{.policy = full}>>>("GPT-2, fp64, units recomputed", batches);
  test<Made<Sentences, Gpt2<wide>, Batch<{.global = 4, .micro = 2}>, Bf16>>("GPT-2, bf16", batches);
  test<Made<Sentences, Gpt2<wide>, Batch<{.global = 4, .micro = 2}>, Offload<{.bucket_bytes = 1}>>>(
      "GPT-2, Offload", batches);
  test<Made<Sentences, Gpt2<wide>, Batch<{.global = 4, .micro = 2}>, Bf16,
            Offload<{.weights = true}>>>("GPT-2, Offload of weights", batches);
  test<Made<Mlp<{.in = 3, .hidden = 8, .out = 2, .layers = 4}>, Batch<{.global = 8, .micro = 4}>>>(
      "perceptron", {numbers(8, 3, 2), numbers(8, 3, 2, 1)});
}
TEST_CASE("our code allocates nothing in a step of two ranks") {
  test<Made<Sentences, Gpt2<wide>, Batch<{.global = 4, .micro = 1}>,
            Ddp<{.bucket_bytes = 1000, .ranks = 2}>>>("GPT-2, Ddp", batches);
  test<Made<Sentences, Gpt2<wide>, Batch<{.global = 4, .micro = 1}>, Bf16,
            Zero<{.bucket_bytes = 1000, .ranks = 2}>>>("GPT-2, Zero", batches);
  test<Made<Sentences, Gpt2<wide>, Batch<{.global = 4, .micro = 1}>, Bf16, SplitBatch<>>>(
      "GPT-2, SplitBatch", batches);
  test<Made<Sentences, Gpt2<wide>, Batch<{.global = 4, .micro = 1}>,
            Zero<{.stage = 2, .bucket_bytes = 1000, .ranks = 2}>>>("GPT-2, Zero 2", batches);
  test<Made<Sentences, Gpt2<wide>, Batch<{.global = 4, .micro = 1}>, Bf16,
            Zero<{.stage = 3, .bucket_bytes = 1000, .ranks = 2}>>>("GPT-2, Zero 3", batches);
}

}  // namespace
}  // namespace sinter::detail::testing
