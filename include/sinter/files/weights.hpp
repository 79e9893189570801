// SPDX-License-Identifier: Apache-2.0
// Finds out what a path given as --weights is.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace sinter::detail {

/// The kind of a path given as --weights, and its files that matter.
struct WeightsSource {
  /// The forms in which weights come.
  enum class Kind {
    checkpoint,    ///< a Sinter checkpoint, or one of a run's folder
    safetensors,   ///< one .safetensors file
    hugging_face,  ///< config.json with model.safetensors, or with shards and their index
  };
  Kind kind;                                 ///< what the folder or file is
  std::filesystem::path path;                ///< the checkpoint, file or folder, links resolved
  std::vector<std::filesystem::path> files;  ///< the safetensors files that hold the weights
  std::filesystem::path config;              ///< config.json, or empty
  std::string warning;                       ///< a warning for the user, or empty
  std::string taken{};  ///< which checkpoint of a run it is, in words, or empty
};

/// Finds out what `path` is. RUN@best, RUN@last and RUN@STEP name a checkpoint of a run; RUN alone
/// is its best, or its last if it has no best. Reads no weights and checks no hash;
/// CheckpointReader verifies a checkpoint.
/// throws    FileError if nothing is there, a run folder has no checkpoint, an index names
///           files outside its folder, or a folder or file is none of the kinds
WeightsSource resolve_weights(const std::filesystem::path& path);

}  // namespace sinter::detail
