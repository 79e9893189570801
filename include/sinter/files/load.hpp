// Strict loading of a model's tensors.
#pragma once
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "sinter/files/safetensors.hpp"

namespace sinter {

/// A tensor that must be in the file, and where its elements go.
struct Expected {
  std::string name;
  Shape shape;
  void* into;
  Dtype dtype;  ///< of `into`: the file's own type, or one that it is convertible() to
};

/// What is allowed beyond an exact match.
struct LoadRules {
  /// Names count as equal with and without it: "transformer.".
  std::string optional_prefix;
  /// Tensors whose name ends so are passed over if not expected: ".attn.bias".
  std::vector<std::string> ignored_suffixes;
  /// A name not expected that must be the same tensor as another: {"lm_head.weight", "wte.weight"}.
  /// It must equal it in type, shape and bytes, and stands in for it where only it is there.
  std::map<std::string, std::string> aliases;
};

/// Fills every destination from the files (one, or the shards of one model).
/// Anything missing, extra, misshapen, twice or of a wrong type is one FileError that lists all of
/// it; then no destination has been touched. (A disk that fails while the data is copied is a
/// FileError too; then the destinations hold a mixture and must not be used.)
void load_tensors(std::span<const std::filesystem::path> files, std::span<const Expected> expected,
                  const LoadRules& rules = {});
void load_tensors(const std::filesystem::path& file, std::span<const Expected> expected,
                  const LoadRules& rules = {});

}  // namespace sinter
