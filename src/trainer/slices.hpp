// SPDX-License-Identifier: Apache-2.0
// Which bytes of a checkpoint's files each rank writes.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "files/chunk_hash.hpp"
#include "files/safetensors_layout.hpp"
#include "sinter/trainer/core.hpp"
#include "sinter/trainer/snapshot.hpp"

namespace sinter::detail {

/// Bytes of a file that a rank has, of one tensor: whole chunks of it.
struct Slice {
  std::uint64_t at;  ///< in the file
  Dtype type;
  const std::byte* data;  ///< where the device has them
  std::size_t bytes;
};

/// A safetensors file of a checkpoint, and what a rank writes of it.
struct SlicedFile {
  const char* name;
  std::string head;           ///< what stands before the tensors, if this rank writes it
  std::uint64_t bytes;        ///< of the whole file
  std::vector<Slice> slices;  ///< in the order of the file
};

/// What a rank writes of the files of a checkpoint: of what is split the parts that it has, of all else
/// its share of the file. The first rank writes the heads. All ranks together write each byte once.
/// requires  the trainer outlives it; if the rank is not that of this process, nothing is split
std::vector<SlicedFile> slices_of(TrainerCore& trainer, int rank, int ranks);
/// The same of a rank that writes all of what a content shows.
std::vector<SlicedFile> slices_of(const CheckpointContent& content);

/// The slices as the parts of a content, so that a snapshot can copy them.
CheckpointContent content_of(std::span<const SlicedFile> files);
/// Lets slices be where a content shows them that was made of content_of().
void move_to(std::vector<SlicedFile>& files, const CheckpointContent& content);

}  // namespace sinter::detail
