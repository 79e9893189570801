// SPDX-License-Identifier: Apache-2.0
#include "cli/sampling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "cli/flags_and_recipe.hpp"
#include "cli/numbers.hpp"
#include "generate/setting_rows.hpp"
#include "hugging_face/generation_config.hpp"

namespace sinter::detail::cli {
namespace {

using hugging_face::GenerationConfig;
constexpr double default_temperature = 0.8;
constexpr std::int64_t default_tokens = 256;

/// Joins the settings, one after the other.
class Joined {
 public:
  Joined(const FlagsAndRecipe& said, const GenerationConfig& file, Sampling& into)
      : said_(said), file_(file), into_(into) {}

  /// Sets an option that the file has read already, if it sets it.
  template <class T>
  void set(const char* name, detail::Said<T> SamplingSettings::* setting, std::string_view key,
           T& option, T absent) {
    if (!file_.sets(key)) option = absent;
    option = (said_.all.*setting).value_or(option);
    add(name, option, said_.by(setting), key);
  }
  /// Adds a setting that `by` says, or else the file under a key, or Sinter.
  void add(const char* name, const nlohmann::ordered_json& value, std::string_view by,
           std::string_view key) {
    const std::string_view below = file_.sets(key) ? "generation_config.json" : "default";
    into_.settings.push_back({name, value, std::string(by.empty() ? below : by)});
  }

 private:
  const FlagsAndRecipe& said_;
  const GenerationConfig& file_;
  Sampling& into_;
};

/// Forgets the ways to draw that a file has, which have no effect where the likeliest token is taken.
void leave_out_draws(GenerationConfig& file, std::string_view why,
                     std::vector<std::string>& notes) {
  for (const char* name : {"temperature", "top_k", "top_p", "min_p", "typical_p"})
    if (std::erase(file.set, name))
      notes.push_back(fmt::format("{} of generation_config.json has no effect: {}.", name, why));
  SamplingOptions& options = file.sampling;
  options.top_k = 0;
  options.top_p = options.typical_p = 1;
  options.min_p = 0;
}

/// Forgets a setting of a file that has no effect.
void leave_out(GenerationConfig& file, const char* name, std::string_view why,
               std::vector<std::string>& notes) {
  if (std::erase(file.set, name))
    notes.push_back(fmt::format("{} of generation_config.json has no effect: {}.", name, why));
}

/// Settles how a beam search goes. Flags and recipe count before the file.
void settle_beams(const FlagsAndRecipe& said, GenerationConfig& file, Sampling& found) {
  BeamOptions& beams = found.beams;
  beams = file.beams;
  beams.beams = said.all.beams.value_or(file.beams.beams);
  if (beams.beams == 1) {
    const SamplingSettings& flags = said.flags;
    if (flags.early_stopping || flags.length_penalty || flags.length_exponent)
      throw UsageError(
          "--early-stopping, --length-penalty and --length-penalty-by choose among beams, and "
          "there "
          "are none. Give --beams 2 or more, or leave them out.");
    if (beams.early_stopping != BeamStopping::no)
      leave_out(file, "early_stopping", "there are no beams", found.notes);
    if (beams.exponent != 1) leave_out(file, "length_penalty", "there are no beams", found.notes);
    beams = {};
    return;
  }
  beams.early_stopping = said.all.early_stopping.value_or(beams.early_stopping);
  beams.length_penalty = said.all.length_penalty.value_or(beams.length_penalty);
  if (beams.length_penalty == LengthPenalty::none) {
    if (said.flags.length_exponent)
      throw UsageError(
          "--length-penalty has no effect with --length-penalty-by none. Leave one of them out.");
    leave_out(file, "length_penalty", "scores are divided by none", found.notes);
    beams.exponent = 1;
  }
  beams.exponent = said.all.length_exponent.value_or(beams.exponent);
}

/// Settles how many texts are written, once it is known how.
void settle_results(const FlagsAndRecipe& said, GenerationConfig& file, Sampling& found) {
  const int beams = found.beams.beams;
  const bool equal = beams == 1 && found.options.temperature == 0;
  const int most = equal ? 1 : beams > 1 ? beams : std::numeric_limits<int>::max();
  found.results = said.all.results.value_or(file.results);
  if (found.results <= most) return;
  const std::string why =
      equal ? "the likeliest token is always taken, so that all texts would be equal"
            : fmt::format("{} beams give {} texts at most", beams, beams);
  if (said.flags.results)
    throw UsageError(fmt::format("--results {}: {}. Give fewer, or --beams {}{}.", found.results,
                                 why, found.results, equal ? ", or a positive temperature" : ""));
  leave_out(file, "num_return_sequences", why, found.notes);
  if (said.recipe.results)
    found.notes.push_back(fmt::format("results of the recipe has no effect: {}.", why));
  found.results = most;
}

constexpr std::string_view stopping_words[] = {"false", "true", "never"};
constexpr std::string_view penalty_words[] = {"power", "wu", "none"};

/// Adds the settings of a beam search.
void add_beams(const FlagsAndRecipe& said, const Sampling& found, Joined& joined) {
  joined.add("num_beams", found.beams.beams, said.by(&SamplingSettings::beams), "num_beams");
  joined.add("num_return_sequences", found.results, said.by(&SamplingSettings::results),
             "num_return_sequences");
  if (found.beams.beams == 1) return;
  const BeamStopping stopping = found.beams.early_stopping;
  using Json = nlohmann::ordered_json;
  joined.add("early_stopping",
             stopping == BeamStopping::never ? Json(stopping_words[int(stopping)])
                                             : Json(stopping == BeamStopping::yes),
             said.by(&SamplingSettings::early_stopping), "early_stopping");
  joined.add("length_penalty_by", penalty_words[int(found.beams.length_penalty)],
             said.by(&SamplingSettings::length_penalty), "");
  if (found.beams.length_penalty != LengthPenalty::none)
    joined.add("length_penalty", found.beams.exponent, said.by(&SamplingSettings::length_exponent),
               "length_penalty");
}

/// Settles whether tokens are drawn. Flags and recipe count before the file.
void settle_mode(const FlagsAndRecipe& said, GenerationConfig& file, int beams,
                 std::vector<std::string>& notes) {
  const bool draws = said.all.ask_for_draws();
  if (said.all.temperature == 0.) {
    if (said.flags.narrow_draws())
      throw UsageError(
          "--temperature 0 always takes the likeliest token, so that --top-k, --top-p, --min-p and "
          "--typical-p have no effect. Leave them out, or give a positive temperature.");
    leave_out_draws(file, "a temperature of 0 takes the likeliest token", notes);
  } else if (file.sets("temperature") && file.sampling.temperature == 0 && !draws) {
    std::erase(file.set, "temperature");
    leave_out_draws(file, "its temperature of 0 takes the likeliest token", notes);
    file.set.emplace_back("temperature");
  } else if (beams > 1 && !draws && !file.draws) {
    leave_out_draws(file, "beams take the best, as nothing says that tokens are drawn", notes);
    file.sampling.temperature = 0;
    if (file.likeliest) file.set.emplace_back("temperature");
  } else if (file.likeliest && !draws) {
    leave_out_draws(file, "do_sample is false, so that the likeliest token is taken", notes);
    file.sampling.temperature = 0;
    file.set.emplace_back("temperature");
  } else if (file.likeliest) {
    notes.emplace_back(
        "do_sample of generation_config.json is false; a flag or the recipe says how to draw, and "
        "counts.");
  }
  if (draws && file.sampling.temperature == 0)
    leave_out(file, "temperature", "a flag or the recipe says how to draw", notes);
}

/// Settles lengths, of which max_length and min_length of a file count the prompt, too.
void settle_lengths(GenerationConfig& file, std::int64_t prompt, std::vector<std::string>& notes) {
  if (!file.max_new_tokens && file.max_length) {
    if (*file.max_length > prompt) {
      file.max_new_tokens = *file.max_length - prompt;
      file.set.emplace_back("max_new_tokens");
    } else {
      notes.push_back(fmt::format(
          "max_length {} of generation_config.json has no effect: the prompt has {} tokens.",
          *file.max_length, prompt));
    }
  }
  if (file.min_length && !file.sets("min_new_tokens") && *file.min_length > prompt) {
    file.sampling.min_new_tokens = *file.min_length - prompt;
    file.set.emplace_back("min_new_tokens");
  }
}

/// Lowers the least length of a file to the most length.
void settle_minimum(const FlagsAndRecipe& said, Sampling& found) {
  std::int64_t& least = found.options.min_new_tokens;
  if (least <= found.tokens) return;
  if (said.flags.min_tokens)
    throw UsageError(
        fmt::format("A text of at least {} tokens and of at most {} cannot be. Give "
                    "--tokens or --min-tokens another value.",
                    least, found.tokens));
  found.notes.push_back(fmt::format("{} asks for at least {} tokens, and at most {} are written.",
                                    said.all.min_tokens ? "the recipe" : "generation_config.json",
                                    least, found.tokens));
  least = found.tokens;
}

/// throws    FileError if a file's options cannot be
void check_file(const GenerationConfig& file, int vocabulary) {
  SamplingOptions options = file.sampling;
  if (file.sets("temperature") && options.temperature == 0) options.temperature = 1;
  try {
    check_sampling(options, vocabulary);
  } catch (const ArgumentError& error) {
    throw FileError(fmt::format("generation_config.json: {}", error.what()));
  }
}

/// Says that a decoder begins with another token than the file says.
void say_starts(const GenerationConfig& file, const Prompt& prompt,
                std::vector<std::string>& notes) {
  const auto other = std::ranges::find_if(file.starts, [&](std::int32_t id) {
    return prompt.decoder.empty() || id != prompt.decoder[0];
  });
  if (other == file.starts.end()) return;
  notes.push_back(fmt::format(
      "decoder_start_token_id {} has no effect: {}.", *other,
      prompt.decoder.empty()
          ? "the model has no decoder beside an encoder"
          : fmt::format("the recipe's decoder begins with the token {}", prompt.decoder[0])));
}

void add_others(const GenerationConfig& file, std::vector<Setting>& settings) {
  const SamplingOptions& o = file.sampling;
  const auto add = [&](std::string_view name, const nlohmann::ordered_json& value) {
    if (file.sets(name)) settings.push_back({std::string(name), value, "generation_config.json"});
  };
  add("suppress_tokens", o.suppressed);
  add("begin_suppress_tokens", o.suppressed_first);
  add("forced_bos_token_id", o.forced_first);
  add("forced_eos_token_id", o.forced_last);
  add("bad_words_ids", o.bad_words);
  add("sequence_bias", o.sequence_bias.size());
}

}  // namespace

std::string Sampling::text() const {
  std::string text;
  for (const Setting& setting : settings) {
    const bool shown = setting.from != "default" || setting.name == "temperature";
    if (!shown) continue;
    text += fmt::format("{}{} {} ({})", text.empty() ? "" : ", ", setting.name,
                        setting.value.dump(), setting.from);
  }
  return text;
}

Sampling sampling_by(const SamplingFlags& flags, const SamplingSettings& recipe,
                     const nlohmann::ordered_json& json, const Prompt& prompt, int vocabulary,
                     const Room& room) {
  GenerationConfig file = hugging_face::read_generation_config(json);
  check_file(file, vocabulary);
  Sampling found;
  found.notes = file.left_out;
  const FlagsAndRecipe said(flags.settings, recipe, found.notes);
  settle_beams(said, file, found);
  settle_mode(said, file, found.beams.beams, found.notes);
  const bool takes_best = found.beams.beams > 1 && file.sampling.temperature == 0;
  const bool decodes = !prompt.decoder.empty();
  settle_lengths(file, std::int64_t((decodes ? prompt.decoder : prompt.tokens).size()),
                 found.notes);
  // transformers forces the first token where the text has one before it: of encoder-decoders.
  if (!decodes && prompt.tokens.size() > 1 && std::erase(file.set, "forced_bos_token_id")) {
    file.sampling.forced_first.clear();
    found.notes.emplace_back(
        "forced_bos_token_id has no effect: it is for encoder-decoders, and for texts of one "
        "token.");
  }
  found.options = file.sampling;
  Joined joined(said, file, found);
  found.tokens = file.max_new_tokens.value_or(0);
  joined.set("tokens", &SamplingSettings::tokens, "max_new_tokens", found.tokens, default_tokens);
  if (found.tokens > room.tokens) {
    found.tokens = room.tokens;
    found.settings.back() = {"tokens", found.tokens, std::string(room.from)};
  }
  SamplingOptions absent;
  absent.temperature = takes_best ? 0 : default_temperature;
  for_each_setting([&](const auto& row) {
    joined.set(row.name, row.setting, row.key, found.options.*row.option, absent.*row.option);
  });
  found.options.seed = flags.seed.value_or(0);
  joined.add("seed", found.options.seed, flags.seed ? "flag" : "", "");
  settle_results(said, file, found);
  add_beams(said, found, joined);
  add_others(file, found.settings);
  found.stops = flags.stops.empty() ? file.stops : flags.stops;
  if (!found.stops.empty())
    found.settings.push_back(
        {"stop", found.stops, flags.stops.empty() ? "generation_config.json" : "flag"});
  say_starts(file, prompt, found.notes);
  settle_minimum(said, found);
  return found;
}

}  // namespace sinter::detail::cli
