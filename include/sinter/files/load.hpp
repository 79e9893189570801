// SPDX-License-Identifier: Apache-2.0
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
  void* into;   ///< where its elements go
  Dtype dtype;  ///< of `into`: the file's own type, or one that it is convertible() to
  /// Takes them instead, in their order, as elements of `dtype`: for who needs only some.
  TakeElements take{};
};

/// What becomes of a head that is expected, and of which the files have no tensor.
enum class MissingHead : bool {
  refused,      // it is an error, as for all other tensors
  starts_fresh  // its destinations are left as they are
};

/// What is allowed beyond an exact match.
struct LoadRules {
  /// Names count as equal with and without this prefix, such as "transformer.".
  std::string optional_prefix;
  /// Tensors whose names end so, such as ".attn.bias", are passed over unless they are expected.
  std::vector<std::string> ignored_suffixes;
  /// Maps a second name of a tensor to the expected one: {"lm_head.weight", "wte.weight"}. If the
  /// file has both, they must be equal in type, shape and bytes; the second may stand alone.
  std::map<std::string, std::string> aliases;
  /// Heads that models of the architecture may have, each as the beginnings of its tensors' names,
  /// such as {"classifier."}. One that the files have, and of which nothing is expected, is left
  /// out.
  std::vector<std::vector<std::string>> heads = {};
  MissingHead missing_head = MissingHead::refused;  ///< of those that are expected
};

/// Tensors of heads that files and model do not share.
struct UnsharedHeads {
  std::vector<std::string> fresh;     ///< expected, and not in the files: not touched
  std::vector<std::string> left_out;  ///< in the files, and not expected
};
/// That, in sentences for a user; empty if there are none.
std::string to_string(const UnsharedHeads& heads);

/// Fills every destination from the files, which are one file or the shards of one model. Returns
/// what of heads was not shared, as the rules allow it.
/// throws    FileError that counts, and of each kind lists up to 30 of, the tensors that are
///           missing, extra, misshapen, given twice or of a wrong type; no destination
///           has then been touched. FileError, too, if the disk fails while data are copied; the
///           destinations then must not be used.
///           ArgumentError if no file is given or a name is expected twice
UnsharedHeads load_tensors(std::span<const std::filesystem::path> files,
                           std::span<const Expected> expected, const LoadRules& rules = {});
/// Checks that they could be filled, and fills none: `into` may be nullptr. Of the files it reads
/// the headers, and the data of a tensor only where that is there under two names.
/// throws    what load_tensors() throws before it copies
UnsharedHeads check_tensors(std::span<const std::filesystem::path> files,
                            std::span<const Expected> expected, const LoadRules& rules = {});
/// Does load_tensors() from one file.
UnsharedHeads load_tensors(const std::filesystem::path& file, std::span<const Expected> expected,
                           const LoadRules& rules = {});

}  // namespace sinter
