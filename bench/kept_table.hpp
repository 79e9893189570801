// SPDX-License-Identifier: Apache-2.0
// A table of a bench that goes on where one was stopped.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "sinter/error.hpp"
#include "sinter/files/io.hpp"

namespace sinter::detail::bench {

/// What a bench with these settings left in a file, an object with the part `kept`; null if no path is
/// given or no file is there.
/// throws    Error if the file is something else, or of other settings
inline nlohmann::ordered_json table_before(const std::string& path,
                                           const nlohmann::ordered_json& settings,
                                           const char* kept) {
  using Json = nlohmann::ordered_json;
  if (path.empty() || !std::filesystem::exists(path)) return {};
  Json before = Json::parse(read_file(path), nullptr, false);
  if (before.is_discarded() || !before.contains("settings") || !before.contains(kept))
    throw Error(path + " is no table of this bench. Name another file for --json.");
  for (const auto& [name, value] : settings.items())
    if (before["settings"].value(name, Json()) != value)
      throw Error(path + " is of another " + name + ": " +
                  before["settings"].value(name, Json()).dump() + ", and now it is " +
                  value.dump() + ". Name another file for --json, or remove this one.");
  return before;
}

}  // namespace sinter::detail::bench
