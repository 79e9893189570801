// SPDX-License-Identifier: Apache-2.0
// Choices that were searched for once, kept in a file for later runs.
#pragma once
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace sinter::detail {

/// Choices, each under a key, in a file. If the file cannot be read or written, that is no error:
/// the choices are then only this process's.
class ChoiceFile {
 public:
  /// Receives a sentence on a problem with the file.
  using Say = std::function<void(const std::string&)>;

  /// Reads the file, which need not exist. Each choice has `bytes` bytes. `about` is what all
  /// choices depend on beside their keys, such as a version. A file with another `about`, or a
  /// damaged one, is not used. An empty path means no file. `say` is called at most once.
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
