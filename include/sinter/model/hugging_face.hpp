// What Hugging Face calls an architecture, and how its files hold it.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sinter {

/// An entry of config.json. decisive: a file whose entry differs holds another model.
struct ConfigEntry {
  std::string key;
  std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, std::vector<std::string>>
      value;
  bool decisive = false;
};

struct HuggingFace {
  std::vector<ConfigEntry> config;
  std::string prefix;                         // that a file may have before every name
  std::vector<std::string> ignored_suffixes;  // buffers that are no parameters
  std::vector<std::pair<std::string, std::string>> aliases;  // a tied tensor and its owner
};

}  // namespace sinter
