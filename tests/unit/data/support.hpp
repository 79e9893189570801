// SPDX-License-Identifier: Apache-2.0
// What the tests of data share.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sinter/data/data_view.hpp"
#include "sinter/data/example_list.hpp"
#include "unit/files/support.hpp"

namespace sinter::detail::testing {

using TokenIds = std::vector<std::int32_t>;

/// What other implementations have written, and a tokenizer of theirs.
inline const fs::path references = SINTER_SOURCE_DIR "/tests/data/tokenizer";
inline Tokenizer reference_tokenizer(const std::string& name) {
  return load_tokenizer(references / (name + ".json"));
}

/// A folder for texts, whose paths are strings, as data paths are.
class DataFolder {
  TemporaryFolder folder;

 public:
  std::string operator/(const std::string& name) const { return (folder / name).string(); }
  std::string path() const { return folder.path().string(); }
  /// Writes a file, and the folders above it.
  std::string write(const std::string& name, const std::string& content) const {
    fs::create_directories((folder / name).parent_path());
    return put(folder / name, content);
  }
};

/// The message of the ArgumentError that `act` must throw.
std::string refusal(auto act) { return message_of<ArgumentError>(act); }

/// Checks the message of the error of type E that `act` must throw.
template <class E = FileError>
void check_refused(auto act, const std::string& says) {
  const std::string message = message_of<E>(act);
  CAPTURE(message);
  CHECK(contains(message, says));
}

/// What a policy with its own options opens.
template <class Policy>
OpenedData opened(const std::string& path) {
  return Policy::open(Policy::options, {.paths = {path}});
}

/// A batch of one example.
inline HostBatch batch_of(const ExampleList& set, std::int64_t number, int most = 1 << 20,
                          int padded = 0) {
  HostBatch batch;
  batch.ids.resize(std::size_t(set.inputs()));
  set.append(batch, number, most, padded);
  return batch;
}

/// The ids of bytes, where '<' stands for the start of a label, '>' for its end and '_' for no
/// target.
inline TokenIds tokens(const std::string& text) {
  TokenIds ids;
  for (char letter : text)
    ids.push_back(letter == '<' ? 256 : letter == '>' ? 257 : letter == '_' ? -1 : letter);
  return ids;
}

}  // namespace sinter::detail::testing
