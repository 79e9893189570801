// SPDX-License-Identifier: Apache-2.0
// The content of a checkpoint, and a copy of it that is independent of the trainer.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sinter/files/safetensors.hpp"

namespace sinter {

namespace detail {
class BackgroundCopy;
class CheckpointWriter;
}  // namespace detail

namespace kernel {
class Stream;
}

namespace detail {
/// The files of a trainer's checkpoint: views of the weights and of the state of optimizer and
/// policies, with their descriptions.
struct CheckpointContent {
  /// The weights; Hugging Face reads this file unchanged.
  static constexpr const char* weights_file = "model.safetensors";
  /// The state of the optimizer and of policies.
  static constexpr const char* state_file = "state.safetensors";
  /// Hugging Face's description of the architecture.
  static constexpr const char* config_file = "config.json";

  std::vector<TensorView> weights, state;  ///< content of the first two files
  std::shared_ptr<const void> owner;   ///< owner of the viewed memory, if it is the content's own
  std::shared_ptr<const void> copies;  ///< owner of what is viewed beside the trainer's memory
  std::string config;  ///< Hugging Face's config.json; empty if it does not have the architecture

  /// Writes the files.
  /// throws    FileError
  void add_to(CheckpointWriter& writer) const;
};

/// A copy of a trainer at one moment, from which a checkpoint is written while training continues.
/// (CheckFreq, FAST 2021, calls the copy a snapshot and the writing persisting.)
class Snapshot {
 public:
  Snapshot();
  ~Snapshot();

  /// Begins to copy the viewed memory of the device, as all earlier work of the stream leaves it.
  /// The copy runs beside the stream's work, and reuses the memory of the previous copy. Content
  /// with an owner is stored as it is.
  /// requires  as BackgroundCopy::begin()
  /// throws    std::bad_alloc, with the previous copy gone, if the machine or a control group of
  ///           the process does not have the memory
  void copy(kernel::Stream& stream, CheckpointContent content);
  /// Frees the memory of the copy.
  void clear();
  /// Waits until the copy is made, and returns it. Any thread that computes on the device may call
  /// it (RecipeView::open_device).
  /// throws    Error if the device has failed
  const CheckpointContent& content() const;

 private:
  CheckpointContent content_;
  std::unique_ptr<BackgroundCopy> copy_;
};
}  // namespace detail

}  // namespace sinter
