// SPDX-License-Identifier: Apache-2.0
// Folders of models, as transformers writes them but for the weights.
#pragma once
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "sinter/error.hpp"
#include "support/folder.hpp"

namespace sinter::detail::testing {

/// A folder with a config.json, of a name of its own within a temporary one.
class ModelFolder {
  TemporaryFolder folder;
  fs::path name;

 public:
  explicit ModelFolder(const std::string& config, const std::string& named = "model")
      : name(folder / named) {
    fs::create_directory(name);
    add("config.json", config);
  }
  void add(const std::string& file, const std::string& content) const {
    std::ofstream(name / file, std::ios::binary) << content;
  }
  /// Six tokens of a WordPiece.
  void add_vocabulary() const { add("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\n"); }
  const fs::path& path() const { return name; }
  /// A place beside it.
  fs::path beside(const std::string& file) const { return folder / file; }
};

/// A text with one blank in place of any white space.
inline std::string flat(const std::string& text) {
  std::istringstream words(text);
  std::string result;
  for (std::string word; words >> word;) result += (result.empty() ? "" : " ") + word;
  return result;
}

inline bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// What a call refuses; empty where it does not.
template <class Call>
std::string refusal(Call call) {
  try {
    call();
    return "";
  } catch (const FileError& error) {
    return error.what();
  }
}

}  // namespace sinter::detail::testing
