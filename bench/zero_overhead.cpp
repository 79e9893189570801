// SPDX-License-Identifier: Apache-2.0
// What does the executor cost? It runs a GPT's step over kernels that do nothing, and so does a
// loop written by hand that calls the same kernels in the same order. callgrind counts the
// instructions of both, as the difference of 2N and N steps. LibTorch is not in this binary.
//   ./sinter bench zero-overhead
// Needs: valgrind
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "sinter/comm/communicator.hpp"
#include "sinter/data/bytes.hpp"
#include "sinter/data/host_batch.hpp"
#include "sinter/kernels/matmul.hpp"
#include "sinter/kernels/norm.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/policy/options.hpp"
#include "sinter/recipe/plan.hpp"

// ---- Kernels that do nothing.
namespace sinter::kernel {

std::int64_t calls = 0;
[[gnu::noinline]] void stub() {
  ++calls;
  asm volatile("" ::: "memory");
}

struct Stream::Pool {};
Stream::Stream(int) {}
Stream::~Stream() = default;
int Stream::threads() const { return 1; }
void Stream::run_if(const std::int32_t* condition, Call call, const void* body) {
  if (*condition) call(body, 0);
}
void Stream::run_as_graph(ShapeCall, const void*, Call call, const void* body) { call(body, 0); }

#define SINTER_STUB(...)               \
  template <class T>                   \
  [[gnu::noinline]] void __VA_ARGS__ { \
    stub();                            \
  }
#define SINTER_STUB_S(...)             \
  template <class T, class S>          \
  [[gnu::noinline]] void __VA_ARGS__ { \
    stub();                            \
  }
#define SINTER_STUB_G(...)             \
  template <class T, class S, class G> \
  [[gnu::noinline]] void __VA_ARGS__ { \
    stub();                            \
  }
#define SINTER_STUB_M(...)                      \
  template <class M, class G, class S, class C> \
  [[gnu::noinline]] void __VA_ARGS__ {          \
    stub();                                     \
  }
using Ids = Input<std::int32_t>;
SINTER_STUB_S(matmul_into(Stream&, Matrix<const T>, Matrix<const T>, Matrix<S>, Addend<S>))
SINTER_STUB_S(cast(Stream&, const T*, S*, std::int64_t))
SINTER_STUB(fill(Stream&, T*, Wide<T>, std::int64_t))
SINTER_STUB(copy(Stream&, const T*, T*, std::int64_t))
SINTER_STUB(add(Stream&, Input<T>, Input<T>, Tensor<T>))
SINTER_STUB(put(Stream&, Input<T>, Tensor<T>))
SINTER_STUB_S(column_sum(Stream&, Tensor<const T>, Tensor<S>))
SINTER_STUB(activation_forward(Stream&, Activation, Input<T>, Tensor<T>))
SINTER_STUB(activation_backward(Stream&, Activation, Input<T>, Input<T>, Tensor<T>))
SINTER_STUB(embedding_forward(Stream&, Ids, Input<T>, Tensor<T>))
SINTER_STUB_S(embedding_backward(Stream&, Ids, Tensor<const T>, Tensor<S>, std::int32_t*))
SINTER_STUB(position_forward(Stream&, Input<T>, Input<T>, Sequences, Tensor<T>))
SINTER_STUB_S(position_backward(Stream&, Tensor<const T>, Sequences, Tensor<S>))
SINTER_STUB(last_rows(Stream&, Input<T>, Sequences, Tensor<T>))
SINTER_STUB(last_rows_backward(Stream&, Input<T>, Sequences, Tensor<T>))
SINTER_STUB_M(adamw(const AdamWOptions&, const ParameterSpan<M, G, S, C>&))
SINTER_STUB_S(normalize_forward(Stream&, Input<T>, Input<T>, Input<T>, Tensor<T>, Output<S>,
                                Tensor<S>, double))
SINTER_STUB_S(add_normalize_forward(Stream&, Input<T>, Input<T>, Input<T>, Input<T>, Output<T>,
                                    Tensor<T>, Output<S>, Tensor<S>, double))
SINTER_STUB_G(normalize_backward(Stream&, Input<T>, Input<T>, Input<S>, Input<S>, Input<T>,
                                 Input<T>, Tensor<T>, Output<T>, Tensor<G>, Output<G>, S*, int))
SINTER_STUB_S(attention_forward(Stream&, Input<T>, Tensor<T>, Tensor<S>, Sequences, AttentionSpan,
                                Dropout))
SINTER_STUB_S(attention_backward(Stream&, Input<T>, Input<T>, Input<T>, Input<S>, Tensor<T>,
                                 Sequences, AttentionSpan, S*, Dropout))
SINTER_STUB(cached_attention(Stream&, Input<T>, Tensor<T>, Cache<T>, Sequences, int, int))
SINTER_STUB_G(linear_cross_entropy(Stream&, Input<T>, Input<T>, Ids, Output<S>, Tensor<T>,
                                   Tensor<G>, double, Tensor<S>, const LossOptions<S>&))
#undef SINTER_STUB
#undef SINTER_STUB_S
#undef SINTER_STUB_G
#undef SINTER_STUB_M

template <class T>
void sum(Stream&, const T*, std::int64_t, double*, bool) {
  stub();
}
template <class T>
void add_squares(Stream&, const T*, std::int64_t, BinnedSum*) {
  stub();
}
void decide(Stream&, const ClippingRule&, double, Decision* decision) {
  stub();
  *decision = {};
}
template void cast(Stream&, const float*, BFloat16*, std::int64_t);
template void cast(Stream&, const float*, Float16*, std::int64_t);
template void copy(Stream&, const float*, float*, std::int64_t);
template void copy(Stream&, const double*, double*, std::int64_t);
template void copy(Stream&, const BFloat16*, BFloat16*, std::int64_t);
template void copy(Stream&, const Float16*, Float16*, std::int64_t);
template void fill(Stream&, float*, float, std::int64_t);
template void fill(Stream&, double*, double, std::int64_t);
template void fill(Stream&, BFloat16*, float, std::int64_t);
template void fill(Stream&, Float16*, float, std::int64_t);
template void sum(Stream&, const float*, std::int64_t, double*, bool);
template void sum(Stream&, const double*, std::int64_t, double*, bool);
template void add_squares(Stream&, const float*, std::int64_t, BinnedSum*);
template void add_squares(Stream&, const double*, std::int64_t, BinnedSum*);
template void add_squares(Stream&, const BFloat16*, std::int64_t, BinnedSum*);
template void add_squares(Stream&, const Float16*, std::int64_t, BinnedSum*);

}  // namespace sinter::kernel

using namespace sinter;
using namespace sinter::detail;

namespace {

constexpr int layers = 4, width = 64, context = 64, sequences = 8, rows = context * sequences;
struct small
    : Recipe<Gpt2<{.layers = layers,
                   .heads = 4,
                   .width = width,
                   .vocabulary = 256,
                   .positions = context}>,
             Bytes<{.context = context}>, Batch<{.global = sequences, .micro = sequences}>> {};
static_assert(ready<small>());

HostBatch full_batch() {
  HostBatch batch;
  batch.ids.assign(2, std::vector<std::int32_t>(rows, 1));
  for (int s = 1; s <= sequences; ++s) batch.starts.push_back(s * context);
  return batch;
}

void run_ours(int steps) {
  kernel::Stream stream(1);
  auto communicator = single_rank();
  OptionSet<small> options;
  const std::vector<Parameter> parameters = list_parameters(Plan<small>::model);
  Machine machine(Plan<small>::view, parameters, stream, *communicator, options.pointers());
  HostBatch batch = full_batch();
  Work work;
  work.batch = &batch;
  work.sequences = sequences;
  work.loss_weight = 1.0 / rows;
  work.learning_rate = 1e-3;
  for (int s = 1; s <= steps; ++s) {
    work.step = s;
    machine.train(work);
  }
}

/// The step as somebody writes it who knows the model: the same kernels on fixed pointers.
struct ByHand {
  kernel::Stream stream{1};
  std::vector<float> memory = std::vector<float>(1024);
  std::vector<std::int32_t> ids = std::vector<std::int32_t>(rows), starts{0, rows};
  float* p = memory.data();
  HostBatch batch = full_batch();
  kernel::Decision decision;

  Tensor<float> at(int r, int columns) { return {p, r, columns}; }
  Tensor<float> x() { return at(rows, width); }
  Tensor<float> vector() { return at(1, width); }
  Tensor<float> statistic() { return at(rows, 1); }
  Tensor<std::int32_t> tokens() { return {ids.data(), rows, 0}; }
  Sequences all() { return {starts.data(), 1, rows}; }

  void linear(int in, int out) {
    kernel::matmul_bias(stream, at(rows, in), at(in, out), at(1, out), at(rows, out));
  }
  void linear_backward(int in, int out) {
    kernel::matmul(stream, at(rows, out), transposed(at(in, out)), at(rows, in));
    kernel::matmul(stream, transposed(at(rows, in)), at(rows, out), at(in, out));
    kernel::column_sum(stream, at(rows, out), at(1, out));
  }
  void norm() {
    kernel::normalize_forward(stream, x(), vector(), vector(), x(), statistic(), statistic(), 1e-5);
  }
  void norm_backward() {
    kernel::normalize_backward(stream, x(), vector(), statistic(), statistic(), x(), x(), x(), x(),
                               vector(), vector(), p);
  }
  void block() {
    norm();
    linear(width, 3 * width);
    kernel::attention_forward(stream, at(rows, 3 * width), x(), at(rows, 4), all(),
                              {.causal = true}, {});
    linear(width, width);
    kernel::add_normalize_forward(stream, x(), x(), vector(), vector(), x(), x(), statistic(),
                                  statistic(), 1e-5);
    linear(width, 4 * width);
    kernel::activation_forward(stream, kernel::Activation::gelu_tanh, at(rows, 4 * width),
                               at(rows, 4 * width));
    linear(4 * width, width);
    kernel::add(stream, x(), x(), x());
  }
  void block_backward() {
    linear_backward(4 * width, width);
    kernel::activation_backward(stream, kernel::Activation::gelu_tanh, at(rows, 4 * width),
                                at(rows, 4 * width), at(rows, 4 * width));
    linear_backward(width, 4 * width);
    norm_backward();
    linear_backward(width, width);
    kernel::attention_backward(stream, at(rows, 3 * width), x(), x(), at(rows, 4),
                               at(rows, 3 * width), all(), {.causal = true}, p, {});
    linear_backward(width, 3 * width);
    norm_backward();
  }
  void step(int s) {
    std::memcpy(ids.data(), batch.ids[0].data(), rows * 4);
    std::memcpy(ids.data(), batch.ids[1].data(), rows * 4);
    kernel::embedding_forward(stream, tokens(), at(256, width), x());
    kernel::position_forward(stream, x(), at(context, width), all(), x());
    for (int l = 0; l < layers; ++l) block();
    norm();
    kernel::linear_cross_entropy(stream, x(), at(256, width), tokens(), statistic(), x(),
                                 at(256, width), 1.0, at(rows, 256));
    kernel::sum(stream, p, rows, &decision.loss);
    norm_backward();
    for (int l = 0; l < layers; ++l) block_backward();
    kernel::position_backward(stream, x(), all(), at(context, width));
    kernel::embedding_backward(stream, tokens(), x(), Tensor(p, 256, width, true), nullptr);
    kernel::add_squares(stream, p, 1024, &decision.squares);
    kernel::decide(stream, {.bound = 1}, 1, &decision);
    for (int part = 0; part < 2; ++part) {
      const ParameterSpan<float, float, float, float> span{
          stream, p, p, {{{p, 1024}, {p, 1024}}}, p, 1024, true, 1e-3, 1, s, &decision};
      kernel::adamw(AdamWOptions(), span);
    }
  }
};

void run_by_hand(int steps) {
  ByHand loop;
  for (int s = 1; s <= steps; ++s) loop.step(s);
}

/// The instructions that this binary takes for so many steps, or -1 if they cannot be counted.
long long count(const std::string& self, const std::string& what, int steps) {
  std::string command = "valgrind --tool=callgrind --callgrind-out-file=/dev/null '" + self + "' " +
                        what + " " + std::to_string(steps) + " 2>&1";
  long long collected = -1;
  FILE* pipe = popen(command.c_str(), "r");
  char line[512];
  while (pipe && std::fgets(line, sizeof line, pipe))
    if (const char* at = std::strstr(line, "Collected : ")) collected = std::atoll(at + 12);
  if (pipe) pclose(pipe);
  return collected;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string who = argc == 3 ? argv[1] : "";  // as count() calls it
  if (argc != 1 && who != "ours" && who != "by-hand") {
    std::fprintf(stderr, "usage: %s\n", argv[0]);
    return 2;
  }
  if (argc == 3) {
    (who == "ours" ? run_ours : run_by_hand)(std::atoi(argv[2]));
    std::printf("%lld kernel calls\n", static_cast<long long>(kernel::calls));
    return 0;
  }
  constexpr int n = 200;
  double per_step[2];
  for (int k = 0; k < 2; ++k) {
    const char* what = k ? "by-hand" : "ours";
    long long once = count(argv[0], what, n), twice = count(argv[0], what, 2 * n);
    if (once < 0 || twice < 0) {
      std::fprintf(stderr,
                   "error: callgrind gave no count. Install valgrind (apt-get install "
                   "valgrind) and run this bench again.\n");
      return 1;
    }
    per_step[k] = double(twice - once) / n;
  }
  run_ours(1);
  double kernel_calls = double(kernel::calls), more = per_step[0] - per_step[1];
  double instructions = double(Plan<small>::program.size());
  // A fused multiply-add of eight numbers is 16 FLOP; a real step takes more instructions.
  double real = double(Plan<small>::flops_per_token) * rows / 16;
  std::printf("GPT %d wide, %d layers, %d×%d tokens: a step over kernels that do nothing\n\n",
              width, layers, sequences, context);
  std::printf("| | instructions |\n|---|---|\n");
  std::printf(
      "| a step by our executor | %.0f |\n| the same by hand | %.0f |\n| difference | %.0f |\n",
      per_step[0], per_step[1], more);
  std::printf("| difference for each of %.0f instructions of the program | %.1f |\n", instructions,
              more / instructions);
  std::printf("| difference for each of %.0f kernel calls | %.1f |\n", kernel_calls,
              more / kernel_calls);
  std::printf("| share of a real step (its matmuls in AVX2 alone: %.1f million) | %.4f %% |\n",
              real / 1e6, 100 * more / real);
  return 0;
}
