// SPDX-License-Identifier: Apache-2.0
#include "cli/sampling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

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
    if (flag) {
      option = *flag;
    } else if (!file_.sets(key)) {
      option = absent;
    }
    add(name, option, flag.has_value(), key);
  }
  /// Adds a setting that a flag says, or the file under a key, or Sinter.
  void add(const char* name, const nlohmann::ordered_json& value, bool by_flag,
           std::string_view key) {
    into_.settings.push_back({name, value,
                              by_flag           ? "flag"
                              : file_.sets(key) ? "generation_config.json"
                                                : "default"});
  }

 private:
  const GenerationConfig& file_;
  Sampling& into_;
};

/// True if flags say how to draw, other than by what changes nothing.
bool asks_for_draws(const SamplingFlags& flags) {
  return flags.temperature.value_or(0) > 0 || flags.top_k.value_or(0) > 1 ||
         flags.top_p.value_or(1) < 1 || flags.min_p.value_or(0) > 0 ||
         flags.typical_p.value_or(1) < 1;
}

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

/// Settles how a beam search goes. Flags count before the file.
void settle_beams(const SamplingFlags& flags, GenerationConfig& file, Sampling& found) {
  BeamOptions& beams = found.beams;
  beams = file.beams;
  beams.beams = flags.beams.value_or(file.beams.beams);
  if (beams.beams == 1) {
    if (flags.early_stopping || flags.length_penalty || flags.length_penalty_by)
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
  beams.early_stopping = flags.early_stopping.value_or(beams.early_stopping);
  beams.length_penalty = flags.length_penalty_by.value_or(beams.length_penalty);
  if (beams.length_penalty == LengthPenalty::none) {
    if (flags.length_penalty)
      throw UsageError(
          "--length-penalty has no effect with --length-penalty-by none. Leave one of them out.");
    leave_out(file, "length_penalty", "--length-penalty-by is none", found.notes);
    beams.exponent = 1;
  }
  beams.exponent = flags.length_penalty.value_or(beams.exponent);
}

/// Settles how many texts are written, once it is known how.
void settle_results(const SamplingFlags& flags, GenerationConfig& file, Sampling& found) {
  const int beams = found.beams.beams;
  const bool equal = beams == 1 && found.options.temperature == 0;
  const int most = equal ? 1 : beams > 1 ? beams : std::numeric_limits<int>::max();
  found.results = flags.results.value_or(file.results);
  if (found.results <= most) return;
  const std::string why =
      equal ? "the likeliest token is always taken, so that all texts would be equal"
            : fmt::format("{} beams give {} texts at most", beams, beams);
  if (flags.results)
    throw UsageError(fmt::format("--results {}: {}. Give fewer, or --beams {}{}.", found.results,
                                 why, found.results, equal ? ", or a positive temperature" : ""));
  leave_out(file, "num_return_sequences", why, found.notes);
  found.results = most;
}

constexpr std::string_view stopping_words[] = {"false", "true", "never"};
constexpr std::string_view penalty_words[] = {"power", "wu", "none"};

/// Adds the settings of a beam search.
void add_beams(const SamplingFlags& flags, const Sampling& found, Joined& joined) {
  joined.add("num_beams", found.beams.beams, flags.beams.has_value(), "num_beams");
  joined.add("num_return_sequences", found.results, flags.results.has_value(),
             "num_return_sequences");
  if (found.beams.beams == 1) return;
  const BeamStopping stopping = found.beams.early_stopping;
  using Json = nlohmann::ordered_json;
  joined.add("early_stopping",
             stopping == BeamStopping::never ? Json(stopping_words[int(stopping)])
                                             : Json(stopping == BeamStopping::yes),
             flags.early_stopping.has_value(), "early_stopping");
  joined.add("length_penalty_by", penalty_words[int(found.beams.length_penalty)],
             flags.length_penalty_by.has_value(), "");
  if (found.beams.length_penalty != LengthPenalty::none)
    joined.add("length_penalty", found.beams.exponent, flags.length_penalty.has_value(),
               "length_penalty");
}

/// Settles whether tokens are drawn. Flags count before the file.
void settle_mode(const SamplingFlags& flags, GenerationConfig& file, int beams,
                 std::vector<std::string>& notes) {
  const bool draws = asks_for_draws(flags);
  if (flags.temperature == 0.) {
    if (draws)
      throw UsageError(
          "--temperature 0 always takes the likeliest token, so that --top-k, --top-p, --min-p and "
          "--typical-p have no effect. Leave them out, or give a positive temperature.");
    leave_out_draws(file, "--temperature 0 takes the likeliest token", notes);
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
        "do_sample of generation_config.json is false; a flag that says how to draw counts "
        "instead.");
  }
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
void settle_minimum(const SamplingFlags& flags, Sampling& found) {
  std::int64_t& least = found.options.min_new_tokens;
  if (least <= found.tokens) return;
  if (flags.min_tokens)
    throw UsageError(
        fmt::format("A text of at least {} tokens and of at most {} cannot be. Give "
                    "--tokens or --min-tokens another value.",
                    least, found.tokens));
  found.notes.push_back(
      fmt::format("generation_config.json asks for at least {} tokens, and at most {} are written.",
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
                     const Prompt& prompt, int vocabulary) {
  GenerationConfig file = hugging_face::read_generation_config(json);
  check_file(file, vocabulary);
  Sampling found;
  found.notes = file.left_out;
  settle_beams(flags, file, found);
  settle_mode(flags, file, found.beams.beams, found.notes);
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
  SamplingOptions& o = found.options;
  Joined joined(file, found);
  std::int64_t file_tokens = file.max_new_tokens.value_or(0);
  joined.set("tokens", flags.tokens, "max_new_tokens", file_tokens, default_tokens);
  found.tokens = file_tokens;
  joined.set("temperature", flags.temperature, "temperature", o.temperature,
             takes_best ? 0. : default_temperature);
  settle_results(flags, file, found);
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
  joined.set("no_repeat_written_ngram_size", flags.no_repeat_written, "", o.no_repeat_written_ngram,
             0);
  joined.set("encoder_no_repeat_ngram_size", flags.no_repeat_prompt, "encoder_no_repeat_ngram_size",
             o.no_repeat_prompt_ngram, 0);
  joined.set("min_tokens", flags.min_tokens, "min_new_tokens", o.min_new_tokens, std::int64_t(0));
  joined.set("seed", flags.seed, "", o.seed, std::uint64_t(0));
  add_beams(flags, found, joined);
  add_others(file, found.settings);
  found.stops = flags.stops.empty() ? file.stops : flags.stops;
  if (!found.stops.empty())
    found.settings.push_back(
        {"stop", found.stops, flags.stops.empty() ? "generation_config.json" : "flag"});
  settle_minimum(flags, found);
  return found;
}

}  // namespace sinter::detail::cli
