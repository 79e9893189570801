// SPDX-License-Identifier: Apache-2.0
// What a model's generation_config.json says of choosing tokens.
#pragma once
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sinter/batch/beams.hpp"
#include "sinter/generate/sampling.hpp"

namespace sinter::detail::hugging_face {

/// A generation_config.json in Sinter's words. What the file does not set has Sinter's default.
struct GenerationConfig {
  SamplingOptions sampling{};
  BeamOptions beams{};
  int results = 1;         // texts to return
  bool likeliest = false;  // true if it says that the likeliest token is always taken
  bool draws = false;      // true if it says that tokens are drawn
  std::optional<std::int64_t> max_new_tokens{};            // tokens to write
  std::optional<std::int64_t> max_length{}, min_length{};  // tokens of prompt and text together
  std::vector<std::int32_t> ends{};                        // tokens that end a text
  std::vector<std::int32_t> starts{};                      // tokens that a decoder begins with
  std::vector<std::string> stops{};                        // texts that end a text
  std::vector<std::string> set{};                          // what the file sets, by its names
  std::vector<std::string> left_out{};  // a sentence for each thing that has no effect here

  bool sets(std::string_view name) const;
};

/// Reads the object of a generation_config.json; null is an empty one.
/// throws    FileError, with the key, what it is and what it must be, if a value is of another type
GenerationConfig read_generation_config(const nlohmann::ordered_json& json);

/// The tokens that end a text by eos_token_id alone, of a generation_config.json or a config.json;
/// none if the key is absent or null.
/// throws    FileError, as above
std::vector<std::int32_t> read_ends(const nlohmann::ordered_json& json);

}  // namespace sinter::detail::hugging_face
