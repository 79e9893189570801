// SPDX-License-Identifier: Apache-2.0
// Tiny recipes train on the emulated device by the same trainer as on the CPU. The device's memory is
// not there for the host, so that whatever reads it other than through OnHost ends these tests.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>

#include "emulated/training/steps.hpp"
#include "support/trainers.hpp"

namespace sinter::testing {
namespace {

constexpr int steps = 6;
constexpr TrainerSettings settings{.seed = 3, .threads = 1};

/// The same steps by a binary for the CPU.
std::vector<Measured> steps_on_cpu(const std::string& precision) {
  const std::string command = SINTER_ON_CPU " " + precision + " " + std::to_string(steps);
  std::vector<Measured> all;
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe);
  for (Measured m; std::fscanf(pipe, "%la %la", &m.loss, &m.norm) == 2;) all.push_back(m);
  REQUIRE(pclose(pipe) == 0);
  REQUIRE(int(all.size()) == steps);
  return all;
}

/// Sums are taken in another order, by which each number that a step leaves may differ by some tens
/// of roundings; updates of AdamW whose gradient is next to 0 then differ by more, and the losses of
/// later steps with them.
template <class Precision>
void check_against_cpu(const std::string& precision, double bound) {
  const auto want = steps_on_cpu(precision), got = first_steps<Tiny<Cuda<>, Precision>>(steps);
  for (int s = 0; s < steps; ++s) {
    CAPTURE(s);
    CHECK(relative_difference(got[s].loss, want[s].loss) < bound);
    CHECK(relative_difference(got[s].norm, want[s].norm) < 10 * bound);
  }
  CHECK(got[3].loss < got[0].loss);  // of the same batch
}

/// With an observer, a machine launches directly and makes no graph.
class Nothing final : public Observer {
  void before(const Machine&, int, int) override {}
  void after(const Machine&, int, int) override {}
};

template <class R>
void check_graph() {
  Trainer<R> graph(settings), direct(settings);
  Nothing nothing;
  direct.observe({&nothing});
  for (int s = 0; s < steps; ++s) {
    CAPTURE(s);
    CHECK(take_step(graph, s) == take_step(direct, s));
  }
  CHECK(parameters_of(graph) == parameters_of(direct));
  CHECK(graph.evaluate(batch_of(1)).sum == direct.evaluate(batch_of(1)).sum);
}

}  // namespace

TEST_CASE("steps are those of the CPU, to rounding") {
  SUBCASE("Fp64") { check_against_cpu<Fp64>("fp64", 1e-12); }
  SUBCASE("Fp32") { check_against_cpu<Fp32>("fp32", 1e-5); }
  SUBCASE("Bf16") { check_against_cpu<Bf16>("bf16", 1e-2); }
}

TEST_CASE("steps as graphs have the bits of direct launches") {
  SUBCASE("Fp32") { check_graph<Tiny<Cuda<>, Fp32>>(); }
  SUBCASE("Bf16") { check_graph<Tiny<Cuda<>, Bf16>>(); }
  SUBCASE("Fp16, whose first steps are skipped") { check_graph<Tiny<Cuda<>, Fp16<>>>(); }
}

TEST_CASE("a run goes on from a checkpoint, bit for bit") {
  using R = Tiny<Cuda<>, Bf16>;
  Trainer<R> one(settings), other(settings);
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("sinter-emulated-" + std::to_string(getpid()));
  for (int s = 0; s < 3; ++s) take_step(one, s);
  one.save(folder);
  other.load(folder);
  std::filesystem::remove_all(folder);
  for (int s = 3; s < steps; ++s) CHECK(take_step(other, s) == take_step(one, s));
  CHECK(parameters_of(other) == parameters_of(one));
}

TEST_CASE("a prediction has the rows of its batch") {
  Trainer<Tiny<Cuda<>, Fp32>> trainer(settings);
  const HostBatch batch = batch_of(0);
  const Prediction last = trainer.predict(batch);
  CHECK(last.rows == batch.sequences());
  CHECK(last.columns == vocabulary);
  for (double value : last.values) REQUIRE(std::isfinite(value));
  int rows = 0;
  trainer.predict_rows(batch, [&](const Prediction& part) { rows += part.rows; });
  CHECK(rows == batch.rows());
}

}  // namespace sinter::testing
