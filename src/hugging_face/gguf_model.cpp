// SPDX-License-Identifier: Apache-2.0
// Keys and names are those that convert_hf_to_gguf.py of llama.cpp writes.
#include "hugging_face/gguf_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sinter/error.hpp"
#include "sinter/files/io.hpp"

namespace sinter::detail::hugging_face {
namespace {

using Json = nlohmann::ordered_json;

/// A tensor's name in transformers, without "weight" or "bias", and in GGUF. Those of blocks stand
/// behind the prefixes of both.
struct TensorName {
  std::string_view ours, theirs;
  GgufOrder order = GgufOrder::same;
};
constexpr TensorName of_gpt2[]{
    {"wte", "token_embd"}, {"wpe", "position_embd"}, {"ln_f", "output_norm"}};
constexpr TensorName of_gpt2_block[]{{"ln_1", "attn_norm"},
                                     {"attn.c_attn", "attn_qkv", GgufOrder::transposed},
                                     {"attn.c_proj", "attn_output", GgufOrder::transposed},
                                     {"ln_2", "ffn_norm"},
                                     {"mlp.c_fc", "ffn_up", GgufOrder::transposed},
                                     {"mlp.c_proj", "ffn_down", GgufOrder::transposed}};
constexpr TensorName of_llama[]{
    {"embed_tokens", "token_embd"}, {"norm", "output_norm"}, {"lm_head", "output"}};
constexpr TensorName of_llama_block[]{{"input_layernorm", "attn_norm"},
                                      {"self_attn.q_proj", "attn_q", GgufOrder::neighbours},
                                      {"self_attn.k_proj", "attn_k", GgufOrder::neighbours},
                                      {"self_attn.v_proj", "attn_v"},
                                      {"self_attn.o_proj", "attn_output"},
                                      {"post_attention_layernorm", "ffn_norm"},
                                      {"mlp.gate_proj", "ffn_gate"},
                                      {"mlp.up_proj", "ffn_up"},
                                      {"mlp.down_proj", "ffn_down"}};

[[noreturn]] void refuse_model(const std::string& what) {
  throw ArgumentError(
      fmt::format("--gguf: {}. Export a folder with --out, which transformers reads.", what));
}

/// Makes the entries and tensors of one model.
class Maker {
  const Json& config;
  std::string architecture;
  GgufModel model;

 public:
  explicit Maker(const Json& c) : config(c) {
    const std::string type = config.value("model_type", "");
    if (type.empty())
      refuse_model("transformers has no class for this model, and llama.cpp none either");
    architecture = type == "mistral" ? "llama" : type;  // as llama.cpp has it
    if (architecture != "gpt2" && architecture != "llama" && architecture != "qwen2")
      refuse_model(
          fmt::format("a model of the type {} is not written as GGUF; those of gpt2, llama, "
                      "mistral and qwen2 are",
                      printable(type)));
  }

  GgufModel make(std::span<const TensorView> weights, Dtype dtype) {
    constexpr std::uint32_t all_f32 = 0, mostly_f16 = 1, mostly_bf16 = 32, quantization = 2;
    add("general.architecture", architecture);
    add("general.type", std::string("model"));
    if (architecture == "gpt2") {
      add_gpt2();
    } else {
      add_llama();
    }
    add("general.file_type", dtype == Dtype::f32   ? all_f32
                             : dtype == Dtype::f16 ? mostly_f16
                                                   : mostly_bf16);
    add("general.quantization_version", quantization);
    for (const TensorView& weight : weights) add_tensor(weight, dtype);
    add_made();
    return std::move(model);
  }

 private:
  void add(std::string key, GgufValue value) {
    model.entries.push_back({std::move(key), std::move(value)});
  }
  void own(const std::string& key, GgufValue value) { add(architecture + "." + key, value); }
  std::uint32_t whole(const char* key) const { return config.at(key).get<std::uint32_t>(); }
  void own_whole(const std::string& key, const char* of) { own(key, whole(of)); }
  void own_real(const std::string& key, const char* of) { own(key, config.at(of).get<float>()); }

  void add_gpt2() {
    constexpr std::uint32_t hidden_per_width = 4;
    own_whole("block_count", "n_layer");
    own_whole("context_length", "n_positions");
    own_whole("embedding_length", "n_embd");
    own("feed_forward_length", hidden_per_width * whole("n_embd"));
    own_whole("attention.head_count", "n_head");
    own_real("attention.layer_norm_epsilon", "layer_norm_epsilon");
  }

  void add_llama() {
    own_whole("block_count", "num_hidden_layers");
    own("context_length", context());
    own_whole("embedding_length", "hidden_size");
    own_whole("feed_forward_length", "intermediate_size");
    own_whole("attention.head_count", "num_attention_heads");
    own_whole("attention.head_count_kv", "num_key_value_heads");
    own_real("rope.freq_base", "rope_theta");
    own_real("attention.layer_norm_rms_epsilon", "rms_norm_eps");
    own_whole("attention.key_length", "head_dim");
    own_whole("attention.value_length", "head_dim");
    own_whole("vocab_size", "vocab_size");
    own_whole("rope.dimension_count", "head_dim");
    add_scaling();
  }

  /// llama.cpp attends to all rows, which is the same while no row is beyond the window.
  std::uint32_t context() {
    const std::uint32_t positions = whole("max_position_embeddings");
    const auto found = config.find("sliding_window");
    if (found == config.end() || !found->is_number()) return positions;
    const auto window = found->get<std::uint32_t>();
    if (window >= positions) return positions;
    model.notes += fmt::format(
        "the file's context is the window, {} tokens: beyond it llama.cpp would attend to all.\n",
        window);
    return window;
  }

  const Json& scaling() const {
    static const Json none = Json::object();
    const auto found = config.find("rope_scaling");
    return found == config.end() || !found->is_object() ? none : *found;
  }

  void add_scaling() {
    const Json& rope = scaling();
    const std::string type = rope.value("rope_type", "default");
    if (type == "default" || type == "llama3") return;  // the second is a tensor: add_made()
    if (type != "linear" && type != "yarn")
      refuse_model(fmt::format("llama.cpp has no {} scaling of positions", printable(type)));
    own("rope.scaling.type", type);
    own("rope.scaling.factor", rope.at("factor").get<float>());
    if (type == "linear") return;
    for (const char* key : {"attention_factor", "mscale", "mscale_all_dim"})
      if (!rope.value(key, Json()).is_null())
        refuse_model(fmt::format("llama.cpp's yarn has no {}", key));
    if (!rope.value("truncate", true)) refuse_model("llama.cpp's yarn always truncates its ramp");
    own("rope.scaling.original_context_length",
        rope.at("original_max_position_embeddings").get<std::uint32_t>());
    own("rope.scaling.yarn_beta_fast", rope.at("beta_fast").get<float>());
    own("rope.scaling.yarn_beta_slow", rope.at("beta_slow").get<float>());
  }

  /// Llama 3's scaling as divisors of the angles.
  void add_made() {
    const Json& rope = scaling();
    if (rope.value("rope_type", "") != "llama3") return;
    const double factor = rope.at("factor"), low = rope.at("low_freq_factor"),
                 high = rope.at("high_freq_factor"),
                 places = rope.at("original_max_position_embeddings"),
                 theta = config.at("rope_theta");
    const auto depth = whole("head_dim");
    std::vector<float> divisors;
    for (std::uint32_t i = 0; i < depth; i += 2) {
      const double turns = places * std::pow(theta, -double(i) / depth) / (2 * std::numbers::pi);
      const double smooth = std::clamp((turns - low) / (high - low), 0., 1.);
      divisors.push_back(float(1 / ((1 - smooth) / factor + smooth)));
    }
    model.made.push_back(std::move(divisors));
    const std::vector<float>& made = model.made.back();
    model.tensors.push_back({"rope_freqs.weight",
                             Dtype::f32,
                             {.name = "rope_freqs.weight",
                              .dtype = Dtype::f32,
                              .shape = {std::int64_t(made.size())},
                              .data = made.data(),
                              .bytes = made.size() * sizeof(float)}});
  }

  static const TensorName* find(std::span<const TensorName> names, std::string_view ours) {
    const auto found = std::ranges::find(names, ours, &TensorName::ours);
    return found == names.end() ? nullptr : &*found;
  }

  void add_tensor(const TensorView& weight, Dtype dtype) {
    const bool is_gpt2 = architecture == "gpt2";
    std::string_view rest = weight.name;
    for (const std::string_view prefix : {"transformer.", "model."})
      if (rest.starts_with(prefix)) rest.remove_prefix(prefix.size());
    const std::size_t dot = rest.rfind('.');
    const std::string_view kind = dot == rest.npos ? "" : rest.substr(dot + 1);
    std::string_view ours = rest.substr(0, dot);
    std::string block;
    if (const std::string_view blocks = is_gpt2 ? "h." : "layers."; ours.starts_with(blocks)) {
      ours.remove_prefix(blocks.size());
      const std::size_t end = ours.find('.');
      block = fmt::format("blk.{}.", ours.substr(0, end));
      ours.remove_prefix(end + 1);
    }
    const TensorName* name = block.empty() ? is_gpt2 ? find(of_gpt2, ours) : find(of_llama, ours)
                             : is_gpt2 ? find(of_gpt2_block, ours)
                                           : find(of_llama_block, ours);
    if (!name) refuse_model(fmt::format("llama.cpp has no tensor {}", printable(weight.name)));
    GgufTensor tensor{fmt::format("{}{}.{}", block, name->theirs, kind), dtype, weight,
                      name->order};
    const bool is_vector = weight.shape.size() < 2;
    if (is_vector || name->theirs == "position_embd") tensor.dtype = Dtype::f32;
    if (tensor.order == GgufOrder::transposed && is_vector) tensor.order = GgufOrder::same;
    if (tensor.order == GgufOrder::neighbours) {
      if (architecture != "llama") tensor.order = GgufOrder::same;  // Qwen2 keeps halves
      const bool is_query = name->theirs == "attn_q";
      tensor.heads = int(whole(is_query ? "num_attention_heads" : "num_key_value_heads"));
    }
    model.tensors.push_back(std::move(tensor));
  }
};

}  // namespace

GgufModel gguf_model(const Json& config, std::span<const TensorView> weights, Dtype dtype) {
  return Maker(config).make(weights, dtype);
}

}  // namespace sinter::detail::hugging_face
