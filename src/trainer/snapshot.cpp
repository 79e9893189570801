// SPDX-License-Identifier: Apache-2.0
#include "sinter/trainer/snapshot.hpp"

#include <new>
#include <span>
#include <utility>

#include "sinter/files/checkpoint.hpp"
#include "sinter/hardware/available.hpp"
#include "sinter/hardware/memory.hpp"

namespace sinter::detail {

void CheckpointContent::add_to(CheckpointWriter& writer) const {
  writer.add_tensors(weights_file, weights);
  if (!config.empty()) writer.add_file(config_file, config);
  if (!state.empty()) writer.add_tensors(state_file, state);
}

Snapshot::Snapshot() = default;
Snapshot::~Snapshot() = default;

void Snapshot::clear() {
  content_ = {};
  copy_.reset();
}

void Snapshot::copy(kernel::Stream& stream, CheckpointContent content) {
  if (content.owner) {
    clear();
    content_ = std::move(content);
    return;
  }
  std::vector<std::span<const std::byte>> parts;
  std::size_t bytes = 0;
  for (const auto* list : {&content.weights, &content.state})
    for (const TensorView& tensor : *list) {
      parts.emplace_back(static_cast<const std::byte*>(tensor.data), tensor.bytes);
      bytes += tensor.bytes;
    }
  if (!copy_ || bytes > copy_->bytes().size()) {
    clear();
    // The allocation itself may take no memory yet, so it would not fail if memory is short.
    if (available_memory().bytes < std::int64_t(bytes)) throw std::bad_alloc();
    copy_ = std::make_unique<BackgroundCopy>(bytes);
  }
  copy_->begin(stream, parts);
  const std::byte* at = copy_->bytes().data();
  for (auto* list : {&content.weights, &content.state})
    for (TensorView& tensor : *list) {
      tensor.data = at;
      at += tensor.bytes;
    }
  content_ = std::move(content);
}

const CheckpointContent& Snapshot::content() const {
  if (copy_) copy_->wait();
  return content_;
}

}  // namespace sinter::detail
