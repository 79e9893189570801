// SPDX-License-Identifier: Apache-2.0
// The bytes of a checkpoint's files that each rank writes.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "files/chunk_hash.hpp"
#include "files/safetensors_layout.hpp"
#include "sinter/trainer/core.hpp"
#include "sinter/trainer/snapshot.hpp"

namespace sinter::detail {

/// A rank's bytes of one tensor in a file: whole chunks.
struct Slice {
  std::uint64_t at;  ///< offset in the file
  Dtype type;
  const std::byte* data;  ///< in the device's memory
  std::size_t bytes;
};

/// A safetensors file of a checkpoint, with the slices that a rank writes.
struct SlicedFile {
  const char* name;
  std::string head;           ///< header before the tensors, if this rank writes it
  std::uint64_t bytes;        ///< size of the whole file
  std::vector<Slice> slices;  ///< in the order of the file
};

/// Returns a rank's slices of the files of a checkpoint: its own shards of what is split, and its
/// share of the rest. Rank 0 writes the headers. All ranks together write each byte once.
/// requires  the trainer outlives it; if the rank is not that of this process, nothing is split
std::vector<SlicedFile> slices_of(TrainerCore& trainer, int rank, int ranks);
/// Returns the slices of a rank that writes the whole content.
std::vector<SlicedFile> slices_of(const CheckpointContent& content);

/// Returns the slices as the parts of a content, so that a snapshot can copy them.
CheckpointContent content_of(std::span<const SlicedFile> files);
/// Points the slices to the memory of a content that was made from content_of().
void move_to(std::vector<SlicedFile>& files, const CheckpointContent& content);

}  // namespace sinter::detail
