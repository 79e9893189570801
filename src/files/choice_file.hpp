// SPDX-License-Identifier: Apache-2.0
// What was searched for once and chosen, kept in a file for later runs.
#pragma once
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace sinter::detail {

/// Choices, each under a key. A file that cannot be read or written is no error: the choices are
/// then those of this process alone.
class ChoiceFile {
 public:
  /// Gets a sentence about what is wrong with the file.
  using Say = std::function<void(const std::string&)>;

  /// Reads what the file has; it need not be there. Each choice has `bytes` bytes. What all choices
  /// hang on beside their keys, such as the version of what is chosen from, is `about`: a file about
  /// something else is not used, and nor is a damaged one. An empty path is no file. `say` is called
  /// at most once.
  ChoiceFile(std::filesystem::path path, std::string about, std::size_t bytes, Say say);

  /// The choice under a key.
  std::optional<std::string> find(const std::string& key) const;
  /// Keeps a choice and returns the one that counts from now on: another process may have kept its
  /// own under this key, and then both go on with that. A choice that is equal to `refused` does not
  /// count and is replaced.
  /// requires  the choice has the file's number of bytes
  std::string keep(const std::string& key, const std::string& choice,
                   const std::string& refused = "");

 private:
  using Choices = std::map<std::string, std::string>;

  std::string keep_in_file(const std::string& key, const std::string& choice,
                           const std::string& refused) const;
  Choices read() const;
  void write(const Choices& all) const;
  void tell(const std::string& what);

  std::filesystem::path path;
  std::string about;
  std::size_t bytes;
  Say say;
  Choices choices;
};

}  // namespace sinter::detail
