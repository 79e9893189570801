// SPDX-License-Identifier: Apache-2.0
// Ddp's gradients as bf16: exactly the rounded sum of what each rank has rounded.
#include <cmath>
#include <cstring>

#include "sinter/hardware/stream.hpp"
#include "support/rank_processes.hpp"
#include "unit/parallel/zero_recipes.hpp"

namespace sinter::detail::testing {
namespace {

using Plain = Tiny<Ddp<{.bucket_bytes = 10'000}>, Decaying, Clipped>;
using Narrow = Tiny<Ddp<{.bucket_bytes = 10'000, .compression = GradientCompression::bf16}>,
                    Decaying, Clipped>;

TEST_CASE("numbers are compressed and expanded in place, whatever their count") {
  for (const int threads : {1, 3}) {
    kernel::Stream stream(threads);
    const DeviceMemory workspace(compression_workspace);
    for (const int count : {1, 3, 16, 63, 64, 65, 127, 128, 129, 1000, 4096, 100'003}) {
      CAPTURE(count);
      std::vector<float> from;
      for (int k = 0; k <= count; ++k) from.push_back(std::sin(float(k)) * float(1 + k % 100));
      std::vector<float> numbers = from;
      compress(stream, numbers.data(), count, workspace.bytes().data());
      std::vector<BFloat16> want(from.begin(), from.begin() + count), got(want.size());
      std::memcpy(got.data(), numbers.data(), got.size() * sizeof got[0]);
      CHECK(std::memcmp(got.data(), want.data(), got.size() * sizeof got[0]) == 0);
      expand(stream, numbers.data(), count, workspace.bytes().data());
      for (int k = 0; k < count; ++k)
        if (numbers[std::size_t(k)] != float(want[std::size_t(k)])) FAIL_CHECK(k);
      CHECK(numbers.back() == from.back());
    }
  }
}

/// Keeps what a rank has of each unit's gradient before it is reduced.
class Gradients final : public Observer {
 public:
  std::vector<float> kept;

  void before(const Machine& machine, int position, int) override {
    const Instruction& i = machine.plan().training.program[std::size_t(position)];
    const kernel::Flat<float> all = machine.flat<float>(Space::gradient);
    kept.resize(std::size_t(all.size));
    if (i.kind->role != Role::reduce) return;
    for (const bool decayed : {true, false}) {
      const FlatSlice slice = machine.model().slice(i.what, i.count, decayed);
      std::copy_n(all.data + slice.first, slice.size, kept.begin() + slice.first);
    }
  }
  void after(const Machine&, int, int) override {}
};

TEST_CASE("a gradient is the rounded sum, in the order of the ranks, of what each has rounded") {
  Trainer<Plain> plain({.seed = 3, .threads = 2});
  Trainer<Narrow> narrow({.seed = 3, .threads = 2});
  Gradients of_ranks[2];
  plain.observe({&of_ranks[0], &of_ranks[1]});
  for (const int step : {0, 2}) {  // of eight sequences, and of five
    randomise(plain, 5, .1);
    randomise(narrow, 5, .1);
    take_steps(plain, step, step + 1);
    take_steps(narrow, step, step + 1);
    bool differs = false;
    for (const Parameter& p : narrow.parameters()) {
      const Numbers got = narrow.gradient(p.name);
      differs |= got != plain.gradient(p.name);
      for (std::int64_t k = 0; k < p.size; ++k) {
        float sum = 0;
        for (const Gradients& rank : of_ranks)
          sum += float(BFloat16(rank.kept[std::size_t(p.offset + k)]));
        if (got[std::size_t(k)] != double(float(BFloat16(sum)))) FAIL_CHECK(p.name << " " << k);
      }
    }
    CHECK(differs);
  }
}

std::string trained(const World& world, int threads) {
  Trainer<Narrow> trainer({.seed = 3, .threads = threads, .world = world});
  std::string text;
  for (double loss : take_steps(trainer, 0, 12).losses) text += std::to_string(loss) + " ";
  for (const auto& [name, values] : all_of(trainer)) {
    text += name;
    text.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof values[0]);
  }
  return text;
}

TEST_CASE("processes have the bits of threads") {
  RankProcesses processes(
      2, [](const World& world, const RankProcesses::Say&) { return trained(world, 1); });
  const std::string want = trained({}, 2);
  for (const std::string& got : processes.results()) CHECK((got == want));
}

TEST_CASE("half as many bytes move, and no memory is planned for it") {
  const auto bytes = [](std::span<const Instruction> program, const Model& model) {
    TrafficList list;
    for (const Instruction& i : program)
      if (i.kind->role == Role::reduce) (*i.kind->traffic)(model, i, {0, 2, 0, 1}, list);
    std::int64_t sum = 0;
    for (const Traffic& traffic : list) sum += traffic.bytes();
    return sum;
  };
  CHECK(2 * bytes(Plan<Narrow>::program, Plan<Narrow>::model) ==
        bytes(Plan<Plain>::program, Plan<Plain>::model));
  CHECK(Plan<Narrow>::bytes == Plan<Plain>::bytes);
}

}  // namespace
}  // namespace sinter::detail::testing
