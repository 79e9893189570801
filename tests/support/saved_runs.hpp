// SPDX-License-Identifier: Apache-2.0
// Runs of a small network that save checkpoints, on ranks of any kind.
#pragma once
#include "sinter/clipping/clip_norm.hpp"
#include "sinter/data/arrays.hpp"
#include "sinter/device/cpu.hpp"
#include "sinter/files/run_folder.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parallel/zero.hpp"
#include "sinter/parameters/average.hpp"
#include "sinter/precision/bf16.hpp"
#include "sinter/trainer/loop.hpp"
#include "sinter/trainer/trainer.hpp"
#include "support/recipes.hpp"
#include "unit/files/support.hpp"

namespace sinter::detail::testing {

/// Layers whose parameters are no multiples of anything, and rows of data for them.
template <class... Policies>
using Network = Made<Mlp<{.in = 3, .hidden = 37, .out = 2, .layers = 3}>, UpTo<1>,
                     Batch<{.global = 24, .micro = 1}>, Policies...>;
constexpr int rows_of_network = 64;

inline const std::vector<float> network_inputs = [] {
  std::vector<float> values(rows_of_network * 3);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = float(k * 7 % 13) / 13;
  return values;
}();
inline const std::vector<float> network_targets = [] {
  std::vector<float> values(rows_of_network * 2);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = float(k * 5 % 11) / 11;
  return values;
}();

/// The folder of a run, as this rank has it.
inline std::unique_ptr<RunFolder> folder_of(const fs::path& path, RunFolder::Mode mode,
                                            const World& world) {
  return world.rank == 0 ? std::make_unique<RunFolder>(path, mode, 100)
                         : std::make_unique<RunFolder>(RunFolder::seen(path, mode));
}

/// Runs a loop from the beginning, or from the newest checkpoint. Returns warnings.
inline std::string run_network(TrainerCore& trainer, const fs::path& path, RunFolder::Mode mode,
                               LoopOptions options) {
  const auto folder = folder_of(path, mode, trainer.settings().world);
  std::string warnings;
  options.on_warning = [&](const std::string& text) { warnings += text + "\n"; };
  Loop loop(trainer,
            ArrayData(network_inputs, 3, network_targets, 2, {.sequences = trainer.global_batch()}),
            {}, folder.get());
  loop.run(options);
  return warnings;
}

constexpr const char* tensor_files[] = {"model.safetensors", "state.safetensors"};

/// The hashes that a checkpoint's manifest has.
inline std::string hashes_of(const fs::path& checkpoint) {
  const std::string text = get(checkpoint / "manifest.json");
  const std::size_t begin = text.find("\"files\""), end = text.find("\"info\"");
  return text.substr(begin, end - begin);
}

/// Checks that two checkpoints hold the same tensors, and that their hashes are those.
inline void check_same_tensors(const fs::path& got, const fs::path& want) {
  for (const char* file : tensor_files) CHECK_MESSAGE((get(got / file) == get(want / file)), file);
  CHECK(hashes_of(got) == hashes_of(want));
  CHECK_NOTHROW(CheckpointReader{got});
}

}  // namespace sinter::detail::testing
