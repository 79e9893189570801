// SPDX-License-Identifier: Apache-2.0
// What a checkpoint holds of a trainer, apart from the trainer.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sinter/files/safetensors.hpp"

namespace sinter {

class BackgroundCopy;
class CheckpointWriter;

namespace kernel {
class Stream;
}

/// The files of a trainer's checkpoint: views of weights and of the state of optimizer and
/// policies, and what is said of them.
struct CheckpointContent {
  /// Hugging Face reads it as it is.
  static constexpr const char* weights_file = "model.safetensors";
  /// The state of the optimizer and of policies.
  static constexpr const char* state_file = "state.safetensors";
  /// Hugging Face's description of the architecture.
  static constexpr const char* config_file = "config.json";

  std::vector<TensorView> weights, state;  ///< what the first two files hold
  std::shared_ptr<const void> owner;  ///< of what the views show, if it is the content's own memory
  std::string config;  ///< Hugging Face's config.json; empty if it does not have the architecture

  /// Writes the files.
  /// throws    FileError
  void add_to(CheckpointWriter& writer) const;
};

/// A copy of a trainer at one moment, so that a checkpoint can be written while training goes on.
/// (CheckFreq, FAST 2021, calls the copy a snapshot and the writing persisting.)
class Snapshot {
 public:
  Snapshot();
  ~Snapshot();

  /// Begins to copy what the views show of the device's memory, as all earlier work of the stream
  /// leaves it, beside the stream's work; the memory of the former copy is used again.
  /// Content that has an owner is kept as it is.
  /// requires  as BackgroundCopy::begin()
  /// throws    std::bad_alloc, with the former copy gone, if the machine or a control group of the
  ///           process does not have the memory
  void copy(kernel::Stream& stream, CheckpointContent content);
  /// Gives back the memory of the copy.
  void clear();
  /// Waits until the copy is made, and returns it. Any thread may call it that computes on the device
  /// (RecipeView::open_device).
  /// throws    Error if the device has failed
  const CheckpointContent& content() const;

 private:
  CheckpointContent content_;
  std::unique_ptr<BackgroundCopy> copy_;
};

}  // namespace sinter
