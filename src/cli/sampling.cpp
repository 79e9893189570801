// SPDX-License-Identifier: Apache-2.0
#include "cli/sampling.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/numbers.hpp"
#include "hugging_face/generation_config.hpp"

namespace sinter::detail::cli {
namespace {

using hugging_face::GenerationConfig;
constexpr double default_temperature = 0.8;
constexpr std::int64_t default_tokens = 256;

/// Joins the settings, one after the other.
class Joined {
 public:
  Joined(const GenerationConfig& file, Sampling& into) : file_(file), into_(into) {}

  /// Sets an option that the file has read already, if it sets it.
  template <class T>
  void set(const char* name, const std::optional<T>& flag, std::string_view key, T& option,
           T absent) {
    const bool in_file = file_.sets(key);
    if (flag) {
      option = *flag;
    } else if (!in_file) {
      option = absent;
    }
    into_.settings.push_back({name, option,
                              flag      ? "flag"
                              : in_file ? "generation_config.json"
                                        : "default"});
  }

 private:
  const GenerationConfig& file_;
  Sampling& into_;
};

/// If a flag asks for the likeliest token, the file's ways to draw have no effect; a flag that says how
/// to draw asks for drawing, whatever the file does.
void settle_mode(const SamplingFlags& flags, GenerationConfig& file,
                 std::vector<std::string>& notes) {
  SamplingOptions& options = file.sampling;
  const bool draws = flags.top_k.value_or(1) != 1 || flags.top_p || flags.min_p || flags.typical_p;
  if (flags.temperature == 0.) {
    if (draws)
      throw UsageError(
          "--temperature 0 always takes the likeliest token, so that --top-k, --top-p, --min-p and "
          "--typical-p have no effect. Leave them out, or give a positive temperature.");
    for (const char* name : {"top_k", "top_p", "min_p", "typical_p"})
      if (std::erase(file.set, name))
        notes.push_back(
            fmt::format("{} of generation_config.json has no effect: --temperature 0 takes the "
                        "likeliest token.",
                        name));
    options.top_k = 0;
    options.top_p = options.typical_p = 1;
    options.min_p = 0;
  } else if (draws && !flags.temperature && file.sets("temperature") && options.temperature == 0) {
    std::erase(file.set, "temperature");
    notes.push_back(
        "generation_config.json takes the likeliest token; a flag that says how to draw counts "
        "instead.");
  }
}

/// The most tokens to write by the file, of which max_length counts the prompt, too.
void settle_lengths(GenerationConfig& file, std::int64_t prompt) {
  if (!file.max_new_tokens && file.max_length && *file.max_length > prompt) {
    file.max_new_tokens = *file.max_length - prompt;
    file.set.emplace_back("max_new_tokens");
  }
  if (file.min_length && !file.sets("min_new_tokens") && *file.min_length > prompt) {
    file.sampling.min_new_tokens = *file.min_length - prompt;
    file.set.emplace_back("min_new_tokens");
  }
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

Sampling sampling_by(const SamplingFlags& flags, const nlohmann::ordered_json& json,
                     const Prompt& prompt) {
  GenerationConfig file = hugging_face::read_generation_config(json);
  Sampling found;
  found.notes = file.left_out;
  settle_mode(flags, file, found.notes);
  const bool decodes = !prompt.decoder.empty();
  settle_lengths(file, std::int64_t((decodes ? prompt.decoder : prompt.tokens).size()));
  // transformers forces the first token where the text has one before it: of encoder-decoders.
  if (!decodes && prompt.tokens.size() > 1 && std::erase(file.set, "forced_bos_token_id")) {
    file.sampling.forced_first.clear();
    found.notes.emplace_back(
        "forced_bos_token_id has no effect: it is for encoder-decoders, and for texts of one "
        "token.");
  }
  found.options = file.sampling;
  SamplingOptions& o = found.options;
  Joined joined(file, found);
  std::int64_t file_tokens = file.max_new_tokens.value_or(0);
  joined.set("tokens", flags.tokens, "max_new_tokens", file_tokens, default_tokens);
  found.tokens = file_tokens;
  joined.set("temperature", flags.temperature, "temperature", o.temperature, default_temperature);
  joined.set("top_k", flags.top_k, "top_k", o.top_k, 0);
  joined.set("top_p", flags.top_p, "top_p", o.top_p, 1.);
  joined.set("min_p", flags.min_p, "min_p", o.min_p, 0.);
  joined.set("typical_p", flags.typical_p, "typical_p", o.typical_p, 1.);
  joined.set("repetition_penalty", flags.repetition_penalty, "repetition_penalty",
             o.repetition_penalty, 1.);
  joined.set("frequency_penalty", flags.frequency_penalty, "", o.frequency_penalty, 0.);
  joined.set("presence_penalty", flags.presence_penalty, "", o.presence_penalty, 0.);
  joined.set("no_repeat_ngram_size", flags.no_repeat_ngram, "no_repeat_ngram_size",
             o.no_repeat_ngram, 0);
  joined.set("min_tokens", flags.min_tokens, "min_new_tokens", o.min_new_tokens, std::int64_t(0));
  joined.set("seed", flags.seed, "", o.seed, std::uint64_t(0));
  add_others(file, found.settings);
  found.stops = flags.stops.empty() ? file.stops : flags.stops;
  if (!found.stops.empty())
    found.settings.push_back(
        {"stop", found.stops, flags.stops.empty() ? "generation_config.json" : "flag"});
  if (o.min_new_tokens > found.tokens)
    throw UsageError(
        fmt::format("A text of at least {} tokens and of at most {} cannot be. Give "
                    "--tokens or --min-tokens another value.",
                    o.min_new_tokens, found.tokens));
  return found;
}

}  // namespace sinter::detail::cli
