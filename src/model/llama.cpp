// SPDX-License-Identifier: Apache-2.0
// LlamaConfig, MistralConfig and Qwen2Config of transformers, and the options of Llama.
#include "sinter/model/llama.hpp"

#include <fmt/format.h>

#include <tuple>

#include "model/config_keys.hpp"

namespace sinter::detail {
namespace {

using hugging_face::Config, hugging_face::ConfigKeys, hugging_face::shown;
using Texts = std::vector<std::string>;

/// Qwen2's window, which Sinter has in all layers or in none.
void walk_window_of_qwen2(ConfigKeys& keys, LlamaOptions& o) {
  bool has_window = o.window > 0;
  keys.flag("use_sliding_window", has_window);
  const std::string kind = has_window ? "sliding_attention" : "full_attention";
  if (has_window) {
    int full = keys.file() ? 28 : 0;
    if (keys.file()) o.window = 4096;
    keys.whole("sliding_window", o.window);
    keys.whole("max_window_layers", full, Range().at_least(0));
    if (full != 0)
      keys.file()->refuse(
          fmt::format("use_sliding_window is true and max_window_layers {}; Sinter has the window "
                      "in all layers, 0",
                      full));
    keys.write({"layer_types", Texts(std::size_t(o.layers), kind), true});
  }
  const Config::Json* types = keys.file() ? keys.file()->find("layer_types") : nullptr;
  if (!types) return;
  for (const Config::Json& type : *types)
    if (type != kind) {
      keys.file()->refuse(
          fmt::format("layer_types has {}; Sinter has \"{}\" alone here", shown(type), kind));
      return;
    }
}

/// The architecture and its window. A Mistral whose window is null is a Llama.
void walk_class(ConfigKeys& keys, LlamaOptions& o) {
  const ConfigEntry mistral{"model_type", std::string("mistral"), true};
  if (o.qkv_biases) {
    keys.named("Qwen2ForCausalLM", "qwen2");
    walk_window_of_qwen2(keys, o);
  } else if (o.window > 0) {
    keys.named("MistralForCausalLM", "mistral");
    if (keys.file() && keys.file()->says_null("sliding_window")) o.window = 0;
    if (o.window > 0) keys.whole("sliding_window", o.window);
  } else {
    keys.named("LlamaForCausalLM", "llama");
    if (!keys.file()) keys.entries.back().instead = {{mistral, {"sliding_window", nullptr}}};
    keys.flag("attention_bias", o.attention_biases);
    keys.flag("mlp_bias", o.mlp_biases);
  }
}

/// The longest sequence. The angles of a file may depend on it, and those of a recipe then do not.
void walk_positions(ConfigKeys& keys, LlamaOptions& o) {
  const bool is_dynamic = !keys.file() && o.scaling == RotaryScaling::dynamic;
  keys.whole("max_position_embeddings", is_dynamic ? o.original_positions : o.positions);
  if (keys.file()) return;
  const bool is_usual = o.scaling == RotaryScaling::yarn && o.original_positions == o.positions;
  keys.entries.back().decisive = is_dynamic || is_usual;  // else a recipe may take fewer or more
}

/// How many heads of keys and values there are, and how many numbers in each head.
void walk_heads(ConfigKeys& keys, LlamaOptions& o) {
  Config* const file = keys.file();
  if (!file) {
    keys.write({"num_key_value_heads", std::int64_t(o.key_heads()), true});
    if (o.key_heads() == o.heads)
      keys.entries.back().instead = {{{"num_key_value_heads", nullptr}}};
    keys.write({"head_dim", std::int64_t(o.head_dim()), true});
    if (o.head_dim() == o.width / o.heads) keys.entries.back().instead = {{{"head_dim", nullptr}}};
    return;
  }
  const int key_heads = file->whole(
      "num_key_value_heads", file->says_null("num_key_value_heads") ? o.heads : o.key_heads());
  o.kv_heads = key_heads == o.heads ? 0 : key_heads;
  if (o.heads % key_heads != 0)
    file->refuse(
        fmt::format("num_key_value_heads is {}, which does not divide "
                    "num_attention_heads, {}",
                    key_heads, o.heads));
  const int head_dim = file->whole("head_dim", 0);
  if (head_dim % 2 != 0)
    file->refuse(
        fmt::format("head_dim is {}, an odd number; each head turns pairs of numbers", head_dim));
  if (head_dim == 0 && o.width % (2 * std::int64_t(o.heads)) != 0)
    file->refuse(
        fmt::format("hidden_size is {}, no even multiple of num_attention_heads, {}; each head "
                    "turns pairs of numbers",
                    o.width, o.heads));
  if (std::int64_t(head_dim) * o.heads != o.width) o.head_width = head_dim;
}

/// The word for how angles are scaled, in the object `under`. Older files call it "type".
std::string read_scaling_word(Config& config, const std::string& under) {
  if (const Config::Json* found = config.find(under); found && !found->is_object())
    config.refuse(fmt::format("{} is {}; expected an object", under, shown(*found)));
  const std::string older = config.word(under + ".type", "default");
  const std::string now = config.word(under + ".rope_type", older);
  if (config.find(under + ".type") && older != now)
    config.refuse(
        fmt::format("{0}.rope_type is {1}, but {0}.type is {2}", under, shown(now), shown(older)));
  return now;
}

constexpr const char* original = "original_max_position_embeddings";

/// Keys of the scaling of Llama 3.
void walk_llama3(ConfigKeys& keys, LlamaOptions& o) {
  keys.needed("low_freq_factor").number("low_freq_factor", o.low_frequency, Range().above(0));
  keys.needed("high_freq_factor").number("high_freq_factor", o.high_frequency, Range().above(0));
  keys.needed(original).whole(original, o.original_positions);
  if (keys.file() && o.low_frequency >= o.high_frequency)
    keys.file()->refuse(fmt::format(
        "{0}.low_freq_factor is {1}, and {0}.high_freq_factor is {2}: the first must be the lower",
        keys.under(), o.low_frequency, o.high_frequency));
}

/// Keys of yarn, most of which a file may lack.
void walk_yarn(ConfigKeys& keys, LlamaOptions& o) {
  const LlamaOptions usual;
  auto last_is_usual = [&](bool is) {
    if (!keys.file()) keys.entries.back().usual = is;
  };
  auto number_or_null = [&](const char* key, double& option) {
    if (keys.file() || option > 0) return keys.number(key, option, Range().above(0));
    keys.writes(key, nullptr);
    last_is_usual(true);
  };
  if (keys.file()) o.original_positions = o.positions;  // where the file does not say them
  keys.whole(original, o.original_positions);
  last_is_usual(o.original_positions == o.positions);
  keys.number("beta_fast", o.beta_fast, Range().above(0));
  last_is_usual(o.beta_fast == usual.beta_fast);
  keys.number("beta_slow", o.beta_slow, Range().above(0));
  last_is_usual(o.beta_slow == usual.beta_slow);
  number_or_null("attention_factor", o.attention_factor);
  number_or_null("mscale", o.mscale);
  number_or_null("mscale_all_dim", o.mscale_all_dim);
  keys.flag("truncate", o.truncate);
  last_is_usual(o.truncate);
  if (!keys.file()) return;
  if (o.beta_slow > o.beta_fast)
    keys.file()->refuse(fmt::format(
        "{0}.beta_slow is {1}, and {0}.beta_fast is {2}: the first must not be the greater",
        keys.under(), o.beta_slow, o.beta_fast));
  if (o.theta <= 1)
    keys.file()->refuse(fmt::format("rope_theta is {}; yarn needs one above 1", o.theta));
}

/// How angles are scaled: the keys of an object.
void walk_scaling(ConfigKeys& keys, LlamaOptions& o) {
  std::string word(o.scaling == RotaryScaling::none ? "default" : name_of(o.scaling));
  if (keys.file()) {
    word = read_scaling_word(*keys.file(), keys.under());
    keys.reads_only("partial_rotary_factor", 1);
    for (RotaryScaling scaling : {RotaryScaling::linear, RotaryScaling::llama3,
                                  RotaryScaling::dynamic, RotaryScaling::yarn})
      if (word == name_of(scaling)) o.scaling = scaling;
    if (o.scaling == RotaryScaling::none && word != "default")
      keys.file()->refuse(fmt::format(
          "{}.rope_type is {}; Sinter has \"default\", \"linear\", \"llama3\", \"dynamic\" and "
          "\"yarn\"",
          keys.under(), shown(word)));
  }
  keys.writes("rope_type", word);
  if (o.scaling == RotaryScaling::none) return;
  keys.needed("factor").number("factor", o.scaling_factor, Range().at_least(1));
  if (o.scaling == RotaryScaling::llama3) walk_llama3(keys, o);
  if (o.scaling == RotaryScaling::yarn) walk_yarn(keys, o);
  if (o.scaling != RotaryScaling::dynamic || !keys.file()) return;
  o.original_positions = o.positions;
  if (o.head_dim() == 2) keys.file()->refuse("heads are 2 wide; dynamic scaling needs wider ones");
}

/// Writes by which angles positions turn heads. transformers 4 reads rope_theta and rope_scaling;
/// transformers 5 reads rope_parameters.
void write_angles(ConfigKeys& keys, LlamaOptions& o) {
  using Entries = std::vector<ConfigEntry>;
  ConfigKeys object(sizeof(float));
  walk_scaling(object, o);
  const Entries& scaling = object.entries;
  Entries older = scaling, parameters = scaling;
  older.front().key = "type";  // the oldest name of this key
  parameters.push_back({"rope_theta", o.theta});
  ConfigEntry of_version_4{"rope_scaling", nullptr, true, {{{"rope_scaling", older}}}};
  if (o.scaling != RotaryScaling::none) {
    of_version_4.value = scaling;
  } else {
    of_version_4.instead.push_back({{"rope_scaling", scaling}});
  }
  keys.write({"rope_theta", o.theta, true});
  keys.write(of_version_4);
  keys.write({"rope_parameters", parameters, true});
}

/// Reads what write_angles() writes, of either version.
void read_angles(ConfigKeys& keys, LlamaOptions& o) {
  Config& config = *keys.file();
  const LlamaOptions usual = o;
  config.only("partial_rotary_factor", 1);
  ConfigKeys of_version_4(config, "rope_scaling"), now(config, "rope_parameters");
  keys.number("rope_theta", o.theta, Range().above(0));
  walk_scaling(of_version_4, o);
  if (!config.find("rope_parameters")) return;
  LlamaOptions newer = usual;
  now.needed("rope_type").needed("rope_theta").number("rope_theta", newer.theta, Range().above(0));
  walk_scaling(now, newer);
  auto scaling = [](const LlamaOptions& of) {
    return std::tuple(of.scaling, of.scaling_factor, of.low_frequency, of.high_frequency,
                      of.original_positions, of.beta_fast, of.beta_slow, of.attention_factor,
                      of.mscale, of.mscale_all_dim, of.truncate);
  };
  if ((config.find("rope_theta") && o.theta != newer.theta) ||
      (config.find("rope_scaling") && scaling(o) != scaling(newer)))
    config.refuse(
        "rope_parameters and rope_theta or rope_scaling, of transformers 5 and 4, are both there "
        "and say different angles");
  o = newer;
}

}  // namespace

void hugging_face::walk(ConfigKeys& keys, LlamaOptions& o) {
  walk_class(keys, o);
  keys.whole("vocab_size", o.vocabulary);
  walk_positions(keys, o);
  keys.whole("hidden_size", o.width);
  keys.whole("intermediate_size", o.hidden);
  keys.whole("num_hidden_layers", o.layers);
  keys.whole("num_attention_heads", o.heads);
  walk_heads(keys, o);
  keys.only("hidden_act", std::string("silu"));
  keys.number("rms_norm_eps", o.eps, Range().above(0));
  keys.dropout(o.attention_dropout, {"attention_dropout"});
  keys.writes("initializer_range", 0.02);
  keys.flag("tie_word_embeddings", o.tied);
  keys.type_of_masters();
  keys.writes("bos_token_id", nullptr);
  keys.writes("eos_token_id", nullptr);
  if (keys.file()) {
    read_angles(keys, o);
  } else {
    write_angles(keys, o);
  }
  const double w = o.width, head = o.head_dim(), queries = o.heads * head,
               shared = o.key_heads() * head;
  const double biases = (o.qkv_biases || o.attention_biases ? queries + 2 * shared : 0) +
                        (o.attention_biases ? w : 0) + (o.mlp_biases ? 2. * o.hidden + w : 0);
  const double block = 2 * w * (queries + shared) + biases + 3 * w * o.hidden + 2 * w;
  keys.parameters = (o.tied ? 1 : 2) * w * o.vocabulary + o.layers * block + w;
}

HuggingFace llama::files_of(const LlamaOptions& o, std::size_t master_bytes) {
  HuggingFace files{{}, "model.", {".rotary_emb.inv_freq"}, {}, {{"lm_head."}}};
  const bool is_plain_llama = o.window == 0 && !o.qkv_biases;
  if (is_plain_llama || !(o.attention_biases || o.mlp_biases))
    files.config = hugging_face::entries_of(o, master_bytes);
  if (o.tied) files.aliases = {{"lm_head.weight", "model.embed_tokens.weight"}};
  return files;
}

}  // namespace sinter::detail
