// SPDX-License-Identifier: Apache-2.0
// What LlamaConfig, MistralConfig and Qwen2Config of transformers say, as options of Llama.
#include "sinter/model/llama.hpp"

#include <tuple>

#include "hugging_face/architectures.hpp"

namespace sinter::hugging_face {
namespace {

/// The word for how angles are scaled, under the key `under`. Older files call it "type".
std::string scaling_under(Config& config, const std::string& under) {
  if (const Config::Json* found = config.find(under); found && !found->is_object())
    config.refuse(fmt::format("{} is {}; expected an object", under, shown(*found)));
  const std::string older = config.word(under + ".type", "default");
  const std::string now = config.word(under + ".rope_type", older);
  if (config.find(under + ".type") && older != now)
    config.refuse(
        fmt::format("{0}.rope_type is {1}, but {0}.type is {2}", under, shown(now), shown(older)));
  return now;
}

/// Reads how angles are scaled, which transformers 4 has under rope_scaling and 5 under
/// rope_parameters.
void read_scaling(Config& config, const std::string& under, LlamaOptions& o) {
  const std::string word = scaling_under(config, under);
  config.only(under + ".partial_rotary_factor", 1);
  if (word == "default") return;
  if (word != "linear" && word != "llama3") {
    config.refuse(
        fmt::format("{}.rope_type is {}; Sinter has \"default\", \"linear\" and \"llama3\"", under,
                    shown(word)));
    return;
  }
  config.need({under + ".factor"});
  o.scaling_factor = config.number(under + ".factor", 1, Range().at_least(1));
  o.scaling = word == "linear" ? RotaryScaling::linear : RotaryScaling::llama3;
  if (o.scaling == RotaryScaling::linear) return;
  const std::string low = under + ".low_freq_factor", high = under + ".high_freq_factor",
                    places = under + ".original_max_position_embeddings";
  config.need({low, high, places});
  o.low_frequency = config.number(low, o.low_frequency, Range().above(0));
  o.high_frequency = config.number(high, o.high_frequency, Range().above(0));
  o.original_positions = config.whole(places, o.original_positions);
  if (const Contradiction wrong = Llama<>::contradiction(o))
    config.refuse(fmt::format("{} is {}, and {} is {}: the first must be the lower", low,
                              o.low_frequency, high, o.high_frequency));
}

/// Reads by which angles positions turn heads.
void read_angles(Config& config, LlamaOptions& o) {
  const LlamaOptions usual = o;
  const Range above = Range().above(0);
  config.only("partial_rotary_factor", 1);
  o.theta = config.number("rope_theta", 10000, above);
  read_scaling(config, "rope_scaling", o);
  if (!config.find("rope_parameters")) return;
  LlamaOptions newer = usual;
  config.need({"rope_parameters.rope_type", "rope_parameters.rope_theta"});
  newer.theta = config.number("rope_parameters.rope_theta", 10000, above);
  read_scaling(config, "rope_parameters", newer);
  auto scaling = [](const LlamaOptions& of) {
    return std::tuple(of.scaling, of.scaling_factor, of.low_frequency, of.high_frequency,
                      of.original_positions);
  };
  if ((config.find("rope_theta") && o.theta != newer.theta) ||
      (config.find("rope_scaling") && scaling(o) != scaling(newer)))
    config.refuse(
        "rope_parameters and rope_theta or rope_scaling, of transformers 5 and 4, are both there "
        "and say different angles");
  o = newer;
}

/// Reads how many heads there are, and how many numbers in each.
void read_heads(Config& config, LlamaOptions& o, int absent_key_heads) {
  const int key_heads = config.whole(
      "num_key_value_heads", config.says_null("num_key_value_heads") ? o.heads : absent_key_heads);
  if (key_heads != o.heads) o.kv_heads = key_heads;
  if (o.heads % o.key_heads() != 0)
    config.refuse(
        fmt::format("num_key_value_heads is {}, which does not divide "
                    "num_attention_heads, {}",
                    o.key_heads(), o.heads));

  const int head_dim = config.whole("head_dim", 0);
  if (head_dim % 2 != 0)
    config.refuse(
        fmt::format("head_dim is {}, an odd number; each head turns pairs of numbers", head_dim));
  if (head_dim == 0 && o.width % (2 * std::int64_t(o.heads)) != 0)
    config.refuse(
        fmt::format("hidden_size is {}, no even multiple of num_attention_heads, {}; each head "
                    "turns pairs of numbers",
                    o.width, o.heads));
  if (std::int64_t(head_dim) * o.heads != o.width) o.head_width = head_dim;
}

/// Reads Qwen2's window, which Sinter has in all layers or in none.
void read_window_of_qwen2(Config& config, LlamaOptions& o) {
  const char* kind = "full_attention";
  if (config.flag("use_sliding_window", false)) {
    kind = "sliding_attention";
    o.window = config.whole("sliding_window", 4096);
    const int full = config.whole("max_window_layers", 28, Range().at_least(0));
    if (full != 0)
      config.refuse(
          fmt::format("use_sliding_window is true and max_window_layers {}; Sinter has the window "
                      "in all layers, 0",
                      full));
  }
  const Config::Json* types = config.find("layer_types");
  if (!types) return;
  for (const Config::Json& type : *types)
    if (type != kind) {
      config.refuse(
          fmt::format("layer_types has {}; Sinter has \"{}\" alone here", shown(type), kind));
      return;
    }
}

double parameters_of(const LlamaOptions& o) {
  const double w = o.width, head = o.head_dim(), queries = o.heads * head,
               keys = o.key_heads() * head;
  const double biases = o.qkv_biases ? queries + 2 * keys : 0;
  const double block = 2 * w * (queries + keys) + biases + 3 * w * o.hidden + 2 * w;
  return (o.tied ? 1 : 2) * w * o.vocabulary + o.layers * block + w;
}

/// What transformers takes where a file does not say.
struct Absent {
  int hidden, vocabulary, positions;
  int key_heads;  // 0: as many as heads
};
constexpr Absent of_llama{11008, 32000, 2048, 0};
constexpr Absent of_mistral{14336, 32000, 131072, 8};
constexpr Absent of_qwen2{22016, 151936, 32768, 32};

FolderModel read(Config& config, LlamaOptions o, const Absent& absent) {
  o.layers = config.whole("num_hidden_layers", 32);
  o.heads = config.whole("num_attention_heads", 32);
  o.width = config.whole("hidden_size", 4096);
  o.hidden = config.whole("intermediate_size", absent.hidden);
  o.vocabulary = config.whole("vocab_size", absent.vocabulary);
  o.positions = config.whole("max_position_embeddings", absent.positions);
  o.eps = config.number("rms_norm_eps", 1e-6, Range().above(0));
  o.tied = config.flag("tie_word_embeddings", false);
  o.attention_dropout = config.dropout("attention_dropout", 0);
  read_heads(config, o, absent.key_heads ? absent.key_heads : o.heads);
  read_angles(config, o);
  config.only("hidden_act", "silu");
  return {.policy = policy_text("Llama", o),
          .learns = Learns::next_tokens,
          .vocabulary = o.vocabulary,
          .positions = o.positions,
          .parameters = parameters_of(o)};
}

}  // namespace

FolderModel read_llama(Config& config, bool) {
  config.only("attention_bias", false);
  config.only("mlp_bias", false);
  return read(config, {}, of_llama);
}

FolderModel read_mistral(Config& config, bool) {
  LlamaOptions o;
  if (!config.says_null("sliding_window"))  // by which a file means that there is none
    o.window = config.whole("sliding_window", 4096);
  return read(config, o, of_mistral);
}

FolderModel read_qwen2(Config& config, bool) {
  LlamaOptions o{.qkv_biases = true};
  read_window_of_qwen2(config, o);
  return read(config, o, of_qwen2);
}

}  // namespace sinter::hugging_face
