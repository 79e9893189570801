// SPDX-License-Identifier: Apache-2.0
#include "sinter/trainer/snapshot.hpp"

#include <cstring>
#include <new>

#include "sinter/device/available.hpp"
#include "sinter/files/checkpoint.hpp"

namespace sinter {

void CheckpointContent::add_to(CheckpointWriter& writer) const {
  writer.add_file(weights_file, [&](OutputFile& out) { write_safetensors(out, weights); });
  if (!config.empty()) writer.add_file(config_file, config);
  if (!state.empty())
    writer.add_file(state_file, [&](OutputFile& out) { write_safetensors(out, state); });
}

void Snapshot::copy(CheckpointContent content) {
  std::size_t bytes = 0;
  for (const auto* list : {&content.weights, &content.state})
    for (const TensorView& tensor : *list) bytes += tensor.bytes;
  if (bytes > capacity_) {
    content_ = {};
    memory_.reset();
    capacity_ = 0;
    // The allocation itself takes nothing yet, and so it would not fail where memory is short.
    if (available_memory().bytes < std::int64_t(bytes)) throw std::bad_alloc();
    memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    capacity_ = bytes;
  }
  std::byte* to = memory_.get();
  for (auto* list : {&content.weights, &content.state})
    for (TensorView& tensor : *list) {
      std::memcpy(to, tensor.data, tensor.bytes);
      tensor.data = to;
      to += tensor.bytes;
    }
  content_ = std::move(content);
}

}  // namespace sinter
