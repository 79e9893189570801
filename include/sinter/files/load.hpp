// SPDX-License-Identifier: Apache-2.0
// Strict loading of a model's tensors.
#pragma once
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "sinter/files/safetensors.hpp"

namespace sinter::detail {

/// A tensor that must be in the file, and where its elements go.
struct Expected {
  std::string name;  ///< the parameter's name, without a prefix
  Shape shape;       ///< its dimensions, the outermost first
  void* into;        ///< where its elements go
  Dtype dtype;       ///< type in `into`: the file's own type, or one that it is convertible() to
  /// Receives the elements in place of `into`, in order, as `dtype`: for callers that need only
  /// some.
  TakeElements take{};
};

/// What happens to an expected head of which the files have no tensor.
enum class MissingHead : bool {
  refused,      // an error, as for all other tensors
  starts_fresh  // its destinations stay as they are
};

/// The differences that are allowed beyond an exact match.
struct LoadRules {
  /// Names count as equal with and without this prefix, such as "transformer.".
  std::string optional_prefix;
  /// Tensors whose names end with one of these, such as ".attn.bias", are ignored unless expected.
  std::vector<std::string> ignored_suffixes;
  /// Maps a second name of a tensor to the expected one: {"lm_head.weight", "wte.weight"}. If the
  /// file has both, they must be equal in type, shape and bytes; it may have only the second.
  std::map<std::string, std::string> aliases;
  /// Heads that models of the architecture may have, each as the beginnings of its tensors' names,
  /// such as {"classifier."}. A head in the files of which nothing is expected is left out.
  std::vector<std::vector<std::string>> heads = {};
  MissingHead missing_head = MissingHead::refused;  ///< for expected heads
};

/// Tensors of heads that files and model do not share.
struct UnsharedHeads {
  std::vector<std::string> fresh;     ///< expected, but not in the files: not touched
  std::vector<std::string> left_out;  ///< in the files, but not expected
};
/// The unshared heads in sentences for a user; empty if there are none.
std::string to_string(const UnsharedHeads& heads);

/// Fills every destination from the files, which are one file or the shards of one model. Returns
/// the unshared heads that the rules allow.
/// throws    FileError that counts the tensors that are missing, extra, misshapen, given twice or
///           of a wrong type, and lists up to 30 of each kind; no destination has then been
///           touched. FileError, too, if the disk fails while data are copied; the destinations
///           then must not be used.
///           ArgumentError if no file is given or a name is expected twice
UnsharedHeads load_tensors(std::span<const std::filesystem::path> files,
                           std::span<const Expected> expected, const LoadRules& rules = {});
/// Checks that load_tensors() could fill the destinations, and fills none: `into` may be nullptr.
/// Reads the files' headers, and the data only of a tensor that they hold under two names.
/// throws    what load_tensors() throws before it copies
UnsharedHeads check_tensors(std::span<const std::filesystem::path> files,
                            std::span<const Expected> expected, const LoadRules& rules = {});
/// load_tensors() from one file.
UnsharedHeads load_tensors(const std::filesystem::path& file, std::span<const Expected> expected,
                           const LoadRules& rules = {});

}  // namespace sinter::detail
