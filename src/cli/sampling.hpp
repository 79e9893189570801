// SPDX-License-Identifier: Apache-2.0
// How `generate` chooses tokens, and who says so: a flag, the recipe, the model's file, or Sinter.
#pragma once
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sinter/batch/sampling_settings.hpp"
#include "sinter/data/prompt.hpp"
#include "sinter/generate/sampling.hpp"

namespace sinter::detail::cli {

/// The flags of sampling, empty where not given.
struct SamplingFlags {
  SamplingSettings settings{};
  std::optional<std::uint64_t> seed{};
  std::vector<std::string> stops{};  // texts that end a text
};

/// A setting, and where it came from: "flag", "recipe", "generation_config.json" or "default"; of an end of
/// text also "config.json" or "the tokenizer", and of lowered tokens what Room::from says.
struct Setting {
  std::string name;
  nlohmann::ordered_json value;
  std::string from;
};

/// What `generate` does, by all who say it.
struct Sampling {
  SamplingOptions options;
  BeamOptions beams;
  int results = 1;                 // texts to write
  std::int64_t tokens = 0;         // most tokens to write
  std::vector<std::string> stops;  // texts that end the text
  std::vector<Setting> settings;   // in the order of the flags
  std::vector<std::string> notes;  // a line for each thing that has no effect

  /// The settings in one line, such as "temperature 0.6 (generation_config.json), …", without those
  /// that have their defaults, but for temperature and tokens.
  std::string text() const;
};

/// How long a text may be at most, whatever is asked for.
struct Room {
  std::int64_t tokens = std::numeric_limits<std::int64_t>::max();
  std::string_view from{};  // what bounds it, as the origin of a setting
};

/// Joins flags, what the recipe says, the model's generation_config.json and Sinter's defaults; the first
/// that says something counts. `vocabulary`: number of the model's tokens.
/// throws    UsageError if flags contradict each other; FileError if the file cannot be understood,
///           or has what cannot be
Sampling sampling_by(const SamplingFlags& flags, const SamplingSettings& recipe,
                     const nlohmann::ordered_json& file, const Prompt& prompt, int vocabulary,
                     const Room& room = {});

}  // namespace sinter::detail::cli
