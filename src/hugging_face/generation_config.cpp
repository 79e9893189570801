// SPDX-License-Identifier: Apache-2.0
#include "hugging_face/generation_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "files/json.hpp"
#include "model/config.hpp"
#include "sinter/error.hpp"

namespace sinter::detail::hugging_face {
namespace {

using Json = nlohmann::ordered_json;

/// The keys of a file, each read once.
class Reader {
 public:
  Reader(const Json& json, GenerationConfig& into) : json_(json), into_(into) {}

  /// The value under a key, which then is set; nullptr if it is absent or null.
  const Json* take(std::string_view key) {
    known_.emplace(key);
    const auto found = json_.find(std::string(key));
    if (found == json_.end() || found->is_null()) return nullptr;
    into_.set.emplace_back(key);
    return &*found;
  }

  [[noreturn]] static void refuse(std::string_view key, const Json& value, std::string_view what) {
    throw FileError(
        fmt::format("generation_config.json: \"{}\" is {}; expected {}. Correct the file, or leave "
                    "the key out.",
                    key, shown(value), what));
  }

  void number(std::string_view key, double& option) {
    const Json* value = take(key);
    if (!value) return;
    if (!value->is_number()) refuse(key, *value, "a number");
    option = value->get<double>();
  }
  template <class Whole>
  void whole(std::string_view key, Whole& option) {
    if (const Json* value = take(key)) option = whole_of<Whole>(key, *value);
  }
  template <class Whole>
  void whole(std::string_view key, std::optional<Whole>& option) {
    if (const Json* value = take(key)) option = whole_of<Whole>(key, *value);
  }
  /// A token, or a list of tokens.
  void tokens(std::string_view key, std::vector<std::int32_t>& option) {
    if (const Json* value = take(key)) option = tokens_of(key, *value);
  }
  static std::vector<std::int32_t> tokens_of(std::string_view key, const Json& value) {
    if (!value.is_array()) return {whole_of<std::int32_t>(key, value)};
    std::vector<std::int32_t> tokens;
    for (const Json& token : value) tokens.push_back(whole_of<std::int32_t>(key, token));
    return tokens;
  }

  /// Says what Sinter does not have, and what it does not know.
  void say_others();

 private:
  template <class Whole>
  static Whole whole_of(std::string_view key, const Json& value) try {
    if (const double number = value.is_number_float() ? value.get<double>() : 0.5;
        number == std::trunc(number) && std::abs(number) < 0x1p53)
      return integer_of<Whole>(Json(std::int64_t(number)), key);
    return integer_of<Whole>(value, key);
  } catch (const JsonError&) {
    refuse(key, value, "a whole number, or a list of them where the key has several");
  }

  const Json& json_;
  GenerationConfig& into_;
  std::set<std::string, std::less<>> known_;
};

void read_sequences(Reader& file, GenerationConfig& into) {
  if (const Json* words = file.take("bad_words_ids")) {
    if (!words->is_array()) Reader::refuse("bad_words_ids", *words, "a list of lists of tokens");
    for (const Json& word : *words)
      into.sampling.bad_words.push_back(Reader::tokens_of("bad_words_ids", word));
  }
  const Json* biases = file.take("sequence_bias");
  if (!biases) return;
  constexpr std::string_view form = "a list of pairs, each a list of tokens and a number";
  if (!biases->is_array()) Reader::refuse("sequence_bias", *biases, form);
  for (const Json& pair : *biases) {
    if (!pair.is_array() || pair.size() != 2 || !pair[1].is_number())
      Reader::refuse("sequence_bias", pair, form);
    into.sampling.sequence_bias.push_back(
        {Reader::tokens_of("sequence_bias", pair[0]), pair[1].get<double>()});
  }
}

void read_stops(Reader& file, GenerationConfig& into) {
  const Json* stops = file.take("stop_strings");
  if (!stops) return;
  const Json list = stops->is_array() ? *stops : Json::array({*stops});
  for (const Json& stop : list) {
    if (!stop.is_string() || stop.get_ref<const std::string&>().empty())
      Reader::refuse("stop_strings", stop, "a text that is not empty, or a list of such texts");
    into.stops.push_back(stop.get<std::string>());
  }
}

/// Reads whether the likeliest token is always taken.
void read_mode(Reader& file, GenerationConfig& into) {
  const Json* sample = file.take("do_sample");
  if (!sample) return;
  if (!sample->is_boolean()) Reader::refuse("do_sample", *sample, "true or false");
  std::erase(into.set, "do_sample");
  into.draws = sample->get<bool>();
  into.likeliest = !into.draws;
}

/// Reads what a beam search does, and how many texts it returns.
void read_beams(Reader& file, const Json& json, GenerationConfig& into) {
  for (auto& [key, option] : {std::pair<const char*, int&>{"num_beams", into.beams.beams},
                              {"num_return_sequences", into.results}}) {
    file.whole(key, option);
    if (option < 1) Reader::refuse(key, json[key], "at least 1");
  }
  file.number("length_penalty", into.beams.exponent);
  const Json* stopping = file.take("early_stopping");
  if (!stopping) return;
  if (!stopping->is_boolean() && *stopping != "never")
    Reader::refuse("early_stopping", *stopping, "true, false or \"never\"");
  into.beams.early_stopping = *stopping == "never"    ? BeamStopping::never
                              : stopping->get<bool>() ? BeamStopping::yes
                                                      : BeamStopping::no;
}

/// What Sinter does not have, with the values by which it changes nothing.
struct Other {
  const char* name;
  Json neutral;
};
const std::array<Other, 18>& others() {
  static const std::array<Other, 18> all{{{"num_beam_groups", 1},
                                          {"diversity_penalty", 0},
                                          {"force_words_ids", nullptr},
                                          {"constraints", nullptr},
                                          {"forced_decoder_ids", nullptr},
                                          {"renormalize_logits", false},
                                          {"remove_invalid_values", false},
                                          {"token_healing", false},
                                          {"dola_layers", nullptr},
                                          {"penalty_alpha", 0},
                                          {"guidance_scale", 1},
                                          {"encoder_repetition_penalty", 1},
                                          {"exponential_decay_length_penalty", nullptr},
                                          {"epsilon_cutoff", 0},
                                          {"eta_cutoff", 0},
                                          {"top_h", nullptr},
                                          {"max_time", nullptr},
                                          {"watermarking_config", nullptr}}};
  return all;
}
/// How transformers computes and what it returns: no text hangs on these.
constexpr std::string_view of_transformers[] = {"assistant_confidence_threshold",
                                                "assistant_early_exit",
                                                "assistant_ensemble_weight",
                                                "assistant_lookbehind",
                                                "bos_token_id",
                                                "cache_config",
                                                "cache_implementation",
                                                "compile_config",
                                                "continuous_batching_config",
                                                "disable_compile",
                                                "is_assistant",
                                                "low_memory",
                                                "max_cache_len",
                                                "max_matching_ngram_size",
                                                "num_assistant_tokens",
                                                "num_assistant_tokens_schedule",
                                                "output_attentions",
                                                "output_hidden_states",
                                                "output_logits",
                                                "output_scores",
                                                "pad_token_id",
                                                "prefill_chunk_size",
                                                "prompt_lookup_num_tokens",
                                                "return_dict_in_generate",
                                                "return_legacy_cache",
                                                "speculation_type",
                                                "target_lookbehind",
                                                "transformers_version",
                                                "use_cache",
                                                "use_mtp"};

void Reader::say_others() {
  for (const auto& [name, neutral] : others()) {
    known_.emplace(name);
    const auto found = json_.find(name);
    if (found == json_.end() || found->is_null() || *found == neutral) continue;
    into_.left_out.push_back(
        fmt::format("{} {} has no effect: Sinter does not have it.", name, shown(*found)));
  }
  known_.insert(std::begin(of_transformers), std::end(of_transformers));
  for (const auto& [key, value] : json_.items())
    if (!value.is_null() && !key.starts_with('_') && !known_.contains(key))
      into_.left_out.push_back(fmt::format(
          "{} of generation_config.json has no effect: Sinter does not know this key.", key));
}

}  // namespace

bool GenerationConfig::sets(std::string_view name) const {
  return std::ranges::find(set, name) != set.end();
}

GenerationConfig read_generation_config(const nlohmann::ordered_json& json) {
  GenerationConfig config;
  if (json.is_null()) return config;
  Reader file(json, config);
  SamplingOptions& options = config.sampling;
  file.number("temperature", options.temperature);
  file.whole("top_k", options.top_k);
  file.number("top_p", options.top_p);
  file.number("min_p", options.min_p);
  file.number("typical_p", options.typical_p);
  file.number("repetition_penalty", options.repetition_penalty);
  file.whole("no_repeat_ngram_size", options.no_repeat_ngram);
  file.whole("encoder_no_repeat_ngram_size", options.no_repeat_prompt_ngram);
  file.tokens("suppress_tokens", options.suppressed);
  file.tokens("begin_suppress_tokens", options.suppressed_first);
  file.tokens("forced_bos_token_id", options.forced_first);
  file.tokens("forced_eos_token_id", options.forced_last);
  file.whole("min_new_tokens", options.min_new_tokens);
  file.whole("min_length", config.min_length);
  file.whole("max_new_tokens", config.max_new_tokens);
  if (config.max_new_tokens && *config.max_new_tokens < 1)
    Reader::refuse("max_new_tokens", json["max_new_tokens"], "at least 1");
  file.whole("max_length", config.max_length);
  file.tokens("eos_token_id", config.ends);
  file.tokens("decoder_start_token_id", config.starts);
  read_sequences(file, config);
  read_stops(file, config);
  read_mode(file, config);
  read_beams(file, json, config);
  file.say_others();
  return config;
}

std::vector<std::int32_t> read_ends(const nlohmann::ordered_json& json) {
  GenerationConfig config;
  Reader(json, config).tokens("eos_token_id", config.ends);
  return config.ends;
}

}  // namespace sinter::detail::hugging_face
