// SPDX-License-Identifier: Apache-2.0
// Tiny recipes train on the emulated device by the same trainer as on the CPU. The device's memory is
// not there for the host, so that whatever reads it other than through OnHost ends these tests.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <string>

#include "emulated/training/steps.hpp"
#include "support/trainers.hpp"
#include "unit/files/support.hpp"

namespace sinter::detail::testing {
namespace {

constexpr int steps = 6;
const TrainerSettings settings{.seed = 3, .threads = 1};

/// The same steps, on this device and by a binary for the CPU.
template <class Precision>
struct OnDevice {
  static std::vector<Measured> take(int first, int last, const fs::path& folder) {
    return steps_between<Tiny<Cuda<>, Precision>>(first, last, folder);
  }
};
template <class Precision>
struct OnCpu {
  static std::vector<Measured> take(int first, int last, const fs::path& folder) {
    const std::string command = std::string(SINTER_ON_CPU " ") + word_of<Precision> + " " +
                                std::to_string(first) + " " + std::to_string(last) + " " +
                                folder.string();
    std::vector<Measured> all;
    FILE* pipe = popen(command.c_str(), "r");
    REQUIRE(pipe);
    for (Measured m; std::fscanf(pipe, "%la %la", &m.loss, &m.norm) == 2;) all.push_back(m);
    REQUIRE(pclose(pipe) == 0);
    REQUIRE(int(all.size()) == last - first);
    return all;
  }
};

/// Sums are taken in another order, by which each number that a step leaves may differ by some tens
/// of roundings; updates of AdamW whose gradient is next to 0 then differ by more, and the losses of
/// later steps with them.
void check_close(const std::vector<Measured>& got, const std::vector<Measured>& want,
                 double bound) {
  REQUIRE(got.size() == want.size());
  for (std::size_t s = 0; s < got.size(); ++s) {
    CAPTURE(s);
    CHECK(relative_difference(got[s].loss, want[s].loss) < bound);
    CHECK(relative_difference(got[s].norm, want[s].norm) < 10 * bound);
  }
}

template <class Precision>
void check_against_cpu(double bound) {
  const TemporaryFolder device, cpu;
  const auto got = OnDevice<Precision>::take(0, steps, device.path());
  check_close(got, OnCpu<Precision>::take(0, steps, cpu.path()), bound);
  CHECK(got[3].loss < got[0].loss);  // of the same batch
}

/// One device takes three steps and saves. Both go on from there; what the other one has read, it
/// saves again.
template <class Precision, template <class> class From, template <class> class To>
void check_moved(double bound) {
  const TemporaryFolder folder;
  From<Precision>::take(0, 3, folder.path());
  fs::copy(folder / "3", folder / "saved");
  To<Precision>::take(3, 3, folder.path());
  for (const char* file : {"model.safetensors", "state.safetensors"})
    CHECK_MESSAGE(get(folder / "3" / file) == get(folder / "saved" / file), file);
  check_close(To<Precision>::take(3, steps, folder.path()),
              From<Precision>::take(3, steps, folder.path()), bound);
}
template <class Precision>
void check_moved(double bound) {
  check_moved<Precision, OnDevice, OnCpu>(bound);
  check_moved<Precision, OnCpu, OnDevice>(bound);
}

template <class R>
void check_graph() {
  Trainer<R> graph(settings), direct(settings);
  LaunchesDirectly observer;
  direct.observe({&observer});
  for (int s = 0; s < steps; ++s) {
    CAPTURE(s);
    CHECK(take_step(graph, s) == take_step(direct, s));
  }
  CHECK(parameters_of(graph) == parameters_of(direct));
  CHECK(graph.evaluate(batch_of(1)).sum == direct.evaluate(batch_of(1)).sum);
}

}  // namespace

TEST_CASE("steps are those of the CPU, to rounding") {
  SUBCASE("Fp64") { check_against_cpu<Fp64>(1e-12); }
  SUBCASE("Fp32") { check_against_cpu<Fp32>(1e-5); }
  SUBCASE("Bf16") { check_against_cpu<Bf16>(1e-2); }
}

TEST_CASE("a checkpoint moves between devices: read bit for bit, and gone on from to rounding") {
  SUBCASE("Fp64") { check_moved<Fp64>(1e-12); }
  SUBCASE("Fp32") { check_moved<Fp32>(1e-5); }
  SUBCASE("Bf16") { check_moved<Bf16>(1e-2); }
}

TEST_CASE("steps as graphs have the bits of direct launches") {
  SUBCASE("Fp32") { check_graph<Tiny<Cuda<>, Fp32>>(); }
  SUBCASE("Bf16") { check_graph<Tiny<Cuda<>, Bf16>>(); }
  SUBCASE("Fp16, whose first steps are skipped") { check_graph<Tiny<Cuda<>, Fp16<>>>(); }
}

TEST_CASE("a run goes on from a checkpoint, bit for bit") {
  using R = Tiny<Cuda<>, Bf16>;
  Trainer<R> one(settings), other(settings);
  const TemporaryFolder folder;
  for (int s = 0; s < 3; ++s) take_step(one, s);
  one.save(folder / "saved");
  other.load(folder / "saved");
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

}  // namespace sinter::detail::testing
