// SPDX-License-Identifier: Apache-2.0
// Exports as GGUF: a reader of this file's own finds each tensor and the vocabulary again, and so
// does the package gguf, where SINTER_PYTHON has it.
#include "files/gguf.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <numbers>

#include "hugging_face/export_gguf.hpp"
#include "hugging_face/gguf_model.hpp"
#include "hugging_face/gguf_tokenizer.hpp"
#include "sinter/model/bert.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/llama.hpp"
#include "support/batches.hpp"
#include "support/json_rows.hpp"
#include "support/message_of.hpp"
#include "support/python.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"
#include "trainer/state_json.hpp"
#include "unit/hugging_face/support.hpp"

namespace sinter::detail::testing::gguf_tests {

using hugging_face::ExportParts;
using Json = nlohmann::json;

constexpr LlamaOptions llama{.layers = 2,
                             .heads = 4,
                             .kv_heads = 2,
                             .width = 32,
                             .hidden = 40,
                             .vocabulary = 403,
                             .positions = 64,
                             .theta = 500,
                             .scaling = RotaryScaling::llama3,
                             .scaling_factor = 8,
                             .original_positions = 64,
                             .attention_biases = true,
                             .mlp_biases = true};
constexpr LlamaOptions narrow{
    .layers = 1, .heads = 2, .width = 16, .hidden = 24, .vocabulary = 403, .positions = 64};
constexpr LlamaOptions qwen2 = changed(narrow, [](auto& o) {
  o.scaling = RotaryScaling::yarn, o.scaling_factor = 4, o.original_positions = 16;
  o.tied = o.qkv_biases = true;
});
constexpr LlamaOptions mistral =
    changed(narrow, [](auto& o) { o.vocabulary = 300, o.head_width = 12, o.window = 16; });
using Gpt = Gpt2<{.layers = 2, .heads = 2, .width = 16, .vocabulary = 500, .positions = 32}>;

template <class Model>
using Tiny = Made<Model, UpTo<8, Model::options.vocabulary>>;

/// What a file holds, read by the format's description.
struct Gguf {
  struct Tensor {
    std::vector<std::uint64_t> shape;  // the innermost first, as the file has it
    std::uint32_t type;
    std::uint64_t begin;
  };
  std::map<std::string, Json> entries;
  std::map<std::string, Tensor> tensors;
  std::string bytes;
  std::size_t at = 0, data = 0;

  template <class T>
  T take() {
    T value;
    REQUIRE(at + sizeof value <= bytes.size());
    std::memcpy(&value, bytes.data() + at, sizeof value);
    at += sizeof value;
    return value;
  }
  std::string text() {
    const auto length = take<std::uint64_t>();
    at += length;
    REQUIRE(at <= bytes.size());
    return bytes.substr(at - length, length);
  }
  Json value(std::uint32_t type) {
    switch (type) {
      case 4:
        return take<std::uint32_t>();
      case 5:
        return take<std::int32_t>();
      case 6:
        return take<float>();
      case 7:
        return take<std::uint8_t>() == 1;
      case 8:
        return text();
      case 9: {
        const auto of = take<std::uint32_t>();
        Json list = Json::array();
        for (auto count = take<std::uint64_t>(); count > 0; --count) list.push_back(value(of));
        return list;
      }
      default:
        FAIL("unknown type ", type);
        return {};
    }
  }
  explicit Gguf(const fs::path& file) : bytes(read_file(file)) {
    REQUIRE(bytes.starts_with("GGUF"));
    at = 4;
    REQUIRE(take<std::uint32_t>() == 3);
    const auto count = take<std::uint64_t>();
    for (auto entry = take<std::uint64_t>(); entry > 0; --entry) {
      const std::string key = text();
      CHECK(entries.emplace(key, value(take<std::uint32_t>())).second);
    }
    for (std::uint64_t k = 0; k < count; ++k) {
      const std::string name = text();
      Tensor tensor;
      for (auto axis = take<std::uint32_t>(); axis > 0; --axis)
        tensor.shape.push_back(take<std::uint64_t>());
      tensor.type = take<std::uint32_t>();
      tensor.begin = take<std::uint64_t>();
      CHECK(tensor.begin % 32 == 0);
      CHECK(tensors.emplace(name, tensor).second);
    }
    data = (at + 31) / 32 * 32;
    CHECK(bytes.size() % 32 == 0);
  }
  Numbers values(const std::string& name) const {
    const Tensor& tensor = tensors.at(name);
    std::uint64_t count = 1;
    for (const std::uint64_t extent : tensor.shape) count *= extent;
    Numbers result;
    const char* from = bytes.data() + data + tensor.begin;
    for (std::uint64_t k = 0; k < count; ++k) {
      if (tensor.type == 0) {
        float value;
        std::memcpy(&value, from + 4 * k, 4);
        result.push_back(value);
      } else {
        std::uint16_t bits;
        std::memcpy(&bits, from + 2 * k, 2);
        if (tensor.type == 1) {
          result.push_back(double(std::bit_cast<Float16>(bits)));
        } else {
          REQUIRE(tensor.type == 30);
          result.push_back(std::bit_cast<float>(std::uint32_t(bits) << 16));
        }
      }
    }
    return result;
  }
};

fs::path reference(const std::string& name) {
  return fs::path(SINTER_SOURCE_DIR) / "tests/data/tokenizer" / name;
}

ExportParts with_tokenizer(const fs::path& path) {
  ExportParts parts;
  hugging_face::set_tokenizer(parts.origin, path);
  return parts;
}

/// Weights by their names in files, as rounded to single precision.
template <class R>
std::map<std::string, Numbers> weights_of(Trainer<R>& trainer) {
  std::map<std::string, Numbers> all;
  trainer.show_weights([&](std::span<const TensorView> weights) {
    for (const TensorView& weight : weights) {
      REQUIRE(weight.dtype == Dtype::f32);
      const auto* values = static_cast<const float*>(weight.data);
      all[weight.name] = Numbers(values, values + weight.bytes / sizeof(float));
    }
  });
  return all;
}

template <class R>
std::string export_to(Trainer<R>& trainer, const ExportParts& parts, const fs::path& file,
                      Dtype dtype = Dtype::f32) {
  std::string notes;
  trainer.show_weights([&](std::span<const TensorView> weights) {
    notes = hugging_face::export_gguf(parts, config_json(trainer.recipe().hugging_face), weights,
                                      dtype, file);
  });
  return notes;
}

/// Rows of heads as llama.cpp has them: number j of the first half at 2 j, of the second at 2 j + 1.
Numbers in_neighbours(const Numbers& rows, int heads, std::size_t columns) {
  const std::size_t depth = rows.size() / columns / std::size_t(heads);
  Numbers result(rows.size());
  for (std::size_t h = 0; h < std::size_t(heads); ++h)
    for (std::size_t second = 0; second < 2; ++second)
      for (std::size_t j = 0; j < depth / 2; ++j)
        for (std::size_t c = 0; c < columns; ++c)
          result[(h * depth + 2 * j + second) * columns + c] =
              rows[(h * depth + second * depth / 2 + j) * columns + c];
  return result;
}

Numbers transposed(const Numbers& x, std::size_t rows) {
  const std::size_t columns = x.size() / rows;
  Numbers result;
  for (std::size_t c = 0; c < columns; ++c)
    for (std::size_t r = 0; r < rows; ++r) result.push_back(x[r * columns + c]);
  return result;
}

/// Compares a file with what the package gguf finds in it.
void check_by_package(const fs::path& file, const Gguf& read) {
  const auto python = python_with("gguf");
  if (!python) return;
  const TemporaryFolder folder;
  const std::string command = "'" + *python +
                              "' '" SINTER_SOURCE_DIR "/tests/support/gguf_contents.py' '" +
                              file.string() + "' > " + (folder / "rows").string();
  REQUIRE(std::system(command.c_str()) == 0);
  const auto rows = json_rows(folder / "rows");
  REQUIRE(rows.size() == 1);
  REQUIRE(rows[0].at("entries").size() == read.entries.size());
  for (const auto& [key, value] : read.entries) {
    CAPTURE(key);
    const auto& found = rows[0].at("entries").at(key);
    if (value.is_number_float()) {
      CHECK(found.get<float>() == value.get<float>());
    } else if (!value.is_array() || !value.empty()) {
      CHECK(Json(found) == value);
    }
  }
  REQUIRE(rows[0].at("tensors").size() == read.tensors.size());
  for (const auto& [name, tensor] : read.tensors) {
    CAPTURE(name);
    const auto& found = rows[0].at("tensors").at(name);
    CHECK(found.at("shape").get<std::vector<std::uint64_t>>() ==
          std::vector<std::uint64_t>(tensor.shape.rbegin(), tensor.shape.rend()));
    CHECK(found.at("values").get<Numbers>() == read.values(name));
  }
}

TEST_CASE("a Llama in GGUF has each tensor, with rows of q and k as llama.cpp rotates them") {
  const TemporaryFolder folder;
  Trainer<Tiny<Llama<llama>>> trainer({.threads = 1});
  randomise(trainer, 1);
  CHECK(export_to(trainer, with_tokenizer(reference("llama3.json")), folder / "a.gguf") == "");
  const Gguf read(folder / "a.gguf");
  const std::map<std::string, Json> want{{"general.architecture", "llama"},
                                         {"general.file_type", 0},
                                         {"general.name", "a"},
                                         {"llama.block_count", 2},
                                         {"llama.context_length", 64},
                                         {"llama.embedding_length", 32},
                                         {"llama.feed_forward_length", 40},
                                         {"llama.attention.head_count", 4},
                                         {"llama.attention.head_count_kv", 2},
                                         {"llama.attention.key_length", 8},
                                         {"llama.attention.layer_norm_rms_epsilon", 1e-5f},
                                         {"llama.rope.freq_base", 500.f},
                                         {"llama.rope.dimension_count", 8},
                                         {"llama.vocab_size", 403}};
  for (const auto& [key, value] : want) {
    CAPTURE(key);
    CHECK(read.entries.at(key) == value);
  }
  auto weights = weights_of(trainer);
  std::map<std::string, Numbers> tensors{
      {"token_embd.weight", weights.at("model.embed_tokens.weight")},
      {"output_norm.weight", weights.at("model.norm.weight")},
      {"output.weight", weights.at("lm_head.weight")}};
  for (const std::string layer : {"0", "1"}) {
    const std::string from = "model.layers." + layer + ".", to = "blk." + layer + ".";
    for (const std::string kind : {"weight", "bias"}) {
      const std::size_t columns = kind == "weight" ? 32 : 1;
      auto one = [&](const char* ours) { return weights.at(from + ours + "." + kind); };
      tensors[to + "attn_q." + kind] = in_neighbours(one("self_attn.q_proj"), 4, columns);
      tensors[to + "attn_k." + kind] = in_neighbours(one("self_attn.k_proj"), 2, columns);
      tensors[to + "attn_v." + kind] = one("self_attn.v_proj");
      tensors[to + "attn_output." + kind] = one("self_attn.o_proj");
      tensors[to + "ffn_gate." + kind] = one("mlp.gate_proj");
      tensors[to + "ffn_up." + kind] = one("mlp.up_proj");
      tensors[to + "ffn_down." + kind] = one("mlp.down_proj");
    }
    tensors[to + "attn_norm.weight"] = weights.at(from + "input_layernorm.weight");
    tensors[to + "ffn_norm.weight"] = weights.at(from + "post_attention_layernorm.weight");
  }
  CHECK(read.tensors.size() == tensors.size() + 1);
  for (const auto& [name, values] : tensors) {
    CAPTURE(name);
    CHECK(read.values(name) == values);
  }
  using Shape = std::vector<std::uint64_t>;
  CHECK(read.tensors.at("blk.0.ffn_down.weight").shape == Shape{40, 32});
  CHECK(read.tensors.at("blk.1.attn_k.weight").shape == Shape{32, 16});
  const Numbers divisors = read.values("rope_freqs.weight");  // of angles: Llama 3's scaling
  REQUIRE(divisors.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    const double wave = 2 * std::numbers::pi * std::pow(500, double(i) / 4);
    const double smooth = (64 / wave - 1) / 3;
    const double wanted = wave < 16 ? 1 : wave > 64 ? 8 : 1 / ((1 - smooth) / 8 + smooth);
    CHECK(divisors[i] == doctest::Approx(wanted));
  }
  check_by_package(folder / "a.gguf", read);
}

TEST_CASE("a GPT-2 in GGUF has its matrices the other way round, in 16 bits but for vectors") {
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16}) {
    const TemporaryFolder folder;
    Trainer<Tiny<Gpt>> trainer({.threads = 1});
    randomise(trainer, 1);
    CHECK(export_to(trainer, with_tokenizer(reference("trained.json")), folder / "a.gguf", dtype) ==
          "");
    const Gguf read(folder / "a.gguf");
    CHECK(read.entries.at("general.architecture") == "gpt2");
    CHECK(read.entries.at("general.file_type") == (dtype == Dtype::f16 ? 1 : 32));
    CHECK(read.entries.at("gpt2.context_length") == 32);
    CHECK(read.entries.at("gpt2.feed_forward_length") == 64);
    CHECK(read.entries.at("gpt2.attention.layer_norm_epsilon") == 1e-5f);
    auto weights = weights_of(trainer);
    auto rounded = [&](Numbers values) {
      for (double& value : values)
        value =
            dtype == Dtype::f16 ? double(Float16(float(value))) : double(BFloat16(float(value)));
      return values;
    };
    auto one = [&](const std::string& name) {
      for (const std::string prefix : {"", "transformer."})
        if (weights.contains(prefix + name)) return weights.at(prefix + name);
      FAIL(name);
      return Numbers();
    };
    CHECK(read.tensors.size() == 4 + 2 * 12);
    CHECK(read.values("token_embd.weight") == rounded(one("wte.weight")));
    CHECK(read.values("position_embd.weight") == one("wpe.weight"));
    CHECK(read.values("output_norm.bias") == one("ln_f.bias"));
    CHECK(read.values("blk.1.attn_qkv.weight") ==
          rounded(transposed(one("h.1.attn.c_attn.weight"), 16)));
    CHECK(read.values("blk.1.attn_qkv.bias") == one("h.1.attn.c_attn.bias"));
    CHECK(read.values("blk.0.attn_output.weight") ==
          rounded(transposed(one("h.0.attn.c_proj.weight"), 16)));
    CHECK(read.values("blk.0.ffn_up.weight") ==
          rounded(transposed(one("h.0.mlp.c_fc.weight"), 16)));
    CHECK(read.values("blk.0.ffn_down.weight") ==
          rounded(transposed(one("h.0.mlp.c_proj.weight"), 64)));
    CHECK(read.values("blk.1.attn_norm.weight") == one("h.1.ln_1.weight"));
    CHECK(read.values("blk.1.ffn_norm.bias") == one("h.1.ln_2.bias"));
    check_by_package(folder / "a.gguf", read);
  }
}

TEST_CASE("a Qwen2 in GGUF keeps the rows of q and k, and says its yarn") {
  const TemporaryFolder folder;
  Trainer<Tiny<Llama<qwen2>>> trainer({.threads = 1});
  randomise(trainer, 1);
  CHECK(export_to(trainer, with_tokenizer(reference("nfc.json")), folder / "a.gguf")
            .find("not normalise") != std::string::npos);
  const Gguf read(folder / "a.gguf");
  auto weights = weights_of(trainer);
  CHECK(read.values("blk.0.attn_q.weight") == weights.at("model.layers.0.self_attn.q_proj.weight"));
  CHECK(read.values("blk.0.attn_k.bias") == weights.at("model.layers.0.self_attn.k_proj.bias"));
  CHECK_FALSE(read.tensors.contains("output.weight"));  // llama.cpp takes token_embd
  CHECK(read.entries.at("qwen2.rope.scaling.type") == "yarn");
  CHECK(read.entries.at("qwen2.rope.scaling.factor") == 4.f);
  CHECK(read.entries.at("qwen2.rope.scaling.original_context_length") == 16);
  CHECK(read.entries.at("tokenizer.ggml.pre") == "qwen2");
  check_by_package(folder / "a.gguf", read);
}

TEST_CASE("a Mistral in GGUF has the context of its window") {
  const TemporaryFolder folder;
  Trainer<Tiny<Llama<mistral>>> trainer({.threads = 1});
  ExportParts parts;
  parts.bytes = true;
  CHECK(export_to(trainer, parts, folder / "a.gguf").find("the window, 16 tokens") !=
        std::string::npos);
  const Gguf read(folder / "a.gguf");
  CHECK(read.entries.at("general.architecture") == "llama");
  CHECK(read.entries.at("llama.context_length") == 16);
  CHECK(read.entries.at("llama.attention.key_length") == 12);
  const Json& tokens = read.entries.at("tokenizer.ggml.tokens");
  REQUIRE(tokens.size() == 300);
  CHECK(tokens[65] == "A");
  CHECK(tokens[32] == "\u0120");
  CHECK(tokens[256] == "[PAD256]");
  CHECK(read.entries.at("tokenizer.ggml.token_type")[256] == 5);
  check_by_package(folder / "a.gguf", read);
}

TEST_CASE("the vocabulary and the merges of a BPE over bytes are in GGUF as in tokenizer.json") {
  for (const auto& [name, pre] : {std::pair("trained.json", "gpt-2"),
                                  {"llama3.json", "llama-bpe"},
                                  {"qwen2.json", "qwen2"}}) {
    CAPTURE(name);
    const Json file = Json::parse(read_file(reference(name)));
    const auto entries =
        hugging_face::gguf_tokenizer(with_tokenizer(reference(name)).origin, 510).entries;
    auto value = [&](const std::string& key) -> const GgufValue& {
      const auto found = std::ranges::find(entries, "tokenizer.ggml." + key, &GgufEntry::key);
      REQUIRE(found != entries.end());
      return found->value;
    };
    CHECK(std::get<std::string>(value("model")) == "gpt2");
    CHECK(std::get<std::string>(value("pre")) == pre);
    const auto& tokens = std::get<std::vector<std::string>>(value("tokens"));
    const auto& kinds = std::get<std::vector<std::int32_t>>(value("token_type"));
    REQUIRE(tokens.size() == 510);
    REQUIRE(kinds.size() == 510);
    std::vector<std::string> wanted(510);
    std::vector<std::int32_t> wanted_kinds(510, 5);
    for (std::size_t id = 0; id < 510; ++id) wanted[id] = "[PAD" + std::to_string(id) + "]";
    for (const auto& [token, id] : file.at("model").at("vocab").items())
      wanted[id.get<std::size_t>()] = token, wanted_kinds[id.get<std::size_t>()] = 1;
    for (const Json& added : file.at("added_tokens")) {
      wanted[added.at("id").get<std::size_t>()] = added.at("content");
      wanted_kinds[added.at("id").get<std::size_t>()] = added.at("special") == true ? 3 : 4;
    }
    CHECK(tokens == wanted);
    CHECK(kinds == wanted_kinds);
    std::vector<std::string> merges;
    for (const Json& merge : file.at("model").at("merges"))
      merges.push_back(merge.is_string()
                           ? merge.get<std::string>()
                           : merge[0].get<std::string>() + " " + merge[1].get<std::string>());
    CHECK(std::get<std::vector<std::string>>(value("merges")) == merges);
    const bool begins = !file.at("post_processor").is_null();  // with <|endoftext|>
    CHECK(std::get<bool>(value("add_bos_token")) == begins);
    CHECK(std::get<std::uint32_t>(value("eos_token_id")) ==
          file.at("added_tokens")[0].at("id").get<std::uint32_t>());
  }
}

/// Protocol buffers, as far as a model of SentencePiece needs them.
std::string field(int number, const std::string& value) {
  return std::string{char(number << 3 | 2), char(value.size())} + value;
}
std::string field(int number, bool value) { return {char(number << 3), char(value)}; }
std::string piece(const std::string& text, float score, int kind) {
  char bits[4];
  std::memcpy(bits, &score, 4);
  return field(
      1, field(1, text) + char(2 << 3 | 5) + std::string(bits, 4) + char(3 << 3) + char(kind));
}

TEST_CASE("a BPE of SentencePiece is in GGUF with its scores, and with added tokens") {
  std::string pieces = piece("<unk>", 0, 2) + piece("<s>", 0, 3) + piece("</s>", 0, 3);
  std::vector<std::string> tokens{"<unk>", "<s>", "</s>"};
  for (int byte = 0; byte < 256; ++byte) {
    tokens.push_back(fmt::format("<0x{:02X}>", byte));
    pieces += piece(tokens.back(), 0, 6);
  }
  pieces += piece("\u2581a", -1.5f, 1);
  tokens.insert(tokens.end(), {"\u2581a", "<call>", "[PAD261]"});
  std::vector<std::int32_t> kinds(262, 6);
  std::vector<float> scores(262, 0);
  kinds[0] = 2, kinds[1] = kinds[2] = 3, kinds[259] = 1, kinds[260] = 4, kinds[261] = 5;
  scores[259] = -1.5f, scores[260] = -1000, scores[261] = -10000;
  const std::string bpe = field(2, std::string{3 << 3, 2, char(0x98), 2, 1}),
                    keeps = field(3, field(4, false));
  const TemporaryFolder folder;
  auto parts_of = [&](const std::string& model) {
    std::ofstream(folder / "tokenizer.model", std::ios::binary) << model;
    return with_tokenizer(folder.path());
  };
  std::ofstream(folder / "added_tokens.json") << R"({"<call>": 260})";
  const auto entries =
      hugging_face::gguf_tokenizer(parts_of(pieces + bpe + keeps).origin, 262).entries;
  std::map<std::string, GgufValue> all;
  for (const GgufEntry& entry : entries) all[entry.key] = entry.value;
  const auto of = [&](const char* key) { return all.at(std::string("tokenizer.ggml.") + key); };
  CHECK(of("model") == GgufValue("llama"));
  CHECK(of("tokens") == GgufValue(tokens));
  CHECK(of("token_type") == GgufValue(kinds));
  CHECK(of("scores") == GgufValue(scores));
  CHECK(of("add_space_prefix") == GgufValue(true));
  CHECK(of("bos_token_id") == GgufValue(std::uint32_t(1)));
  CHECK(of("eos_token_id") == GgufValue(std::uint32_t(2)));
  CHECK(of("add_bos_token") == GgufValue(false));  // as transformers, without add_bos_token
  std::ofstream(folder / "tokenizer_config.json") << R"({"add_bos_token": true})";
  const auto begun =
      hugging_face::gguf_tokenizer(parts_of(pieces + bpe + keeps).origin, 262).entries;
  const auto begins = std::ranges::find(begun, "tokenizer.ggml.add_bos_token", &GgufEntry::key);
  CHECK((begins != begun.end() && begins->value == GgufValue(true)));
  std::filesystem::remove(folder / "tokenizer_config.json");

  auto refused = [&](const std::string& model) {
    const ExportParts parts = parts_of(model);
    return message_of<ArgumentError>([&] { hugging_face::gguf_tokenizer(parts.origin, 262); });
  };
  CHECK(has(refused(pieces + keeps), "Unigram"));
  CHECK(has(refused(pieces + bpe), "removes blanks"));
  CHECK(
      has(refused(pieces + bpe + keeps + piece("b", -2, 1) + piece("c", -3, 1) + piece("d", -4, 1)),
          "the tokenizer has 263 tokens, and the model's vocabulary is 262"));
}

TEST_CASE("a tokenizer that llama.cpp does not have is refused by what it does") {
  auto refused = [](const std::string& name, std::int64_t vocabulary = 600) {
    return message_of<ArgumentError>(
        [&] { hugging_face::gguf_tokenizer(with_tokenizer(reference(name)).origin, vocabulary); });
  };
  CHECK(has(refused("llama2.json"), "tokenizer.model of SentencePiece"));
  CHECK(has(refused("bert_cased.json"), "a WordPiece"));
  CHECK(has(refused("prefixed.json"), "add_prefix_space"));
  CHECK(has(refused("trained.json", 499), "the model's vocabulary is 499"));
  const ModelFolder folder("{}");
  Json other = Json::parse(read_file(reference("trained.json")));
  const Json digits = {{"type", "Digits"}, {"individual_digits", true}};
  other["pre_tokenizer"] = {{"type", "Sequence"},
                            {"pretokenizers", {digits, other["pre_tokenizer"]}}};
  folder.add("tokenizer.json", other.dump());
  auto refused_folder = [&] {
    return message_of<ArgumentError>(
        [&] { hugging_face::gguf_tokenizer(with_tokenizer(folder.path()).origin, 600); });
  };
  CHECK(has(refused_folder(), "no name for how the tokenizer cuts texts"));
  other = Json::parse(read_file(reference("trained.json")));
  other["normalizer"] = {{"type", "Lowercase"}};
  folder.add("tokenizer.json", other.dump());
  CHECK(has(refused_folder(), "does not normalise"));
}

template <class Model>
std::string refused(const ExportParts& parts = {.bytes = true}) {
  const TemporaryFolder folder;
  Trainer<Tiny<Model>> trainer({.threads = 1});
  const std::string message =
      message_of<ArgumentError>([&] { export_to(trainer, parts, folder / "a.gguf"); });
  CHECK(fs::is_empty(folder.path()));
  return message;
}

TEST_CASE("a model that llama.cpp does not have is refused by name, and nothing is written") {
  constexpr LlamaOptions dynamic = changed(narrow, [](auto& o) {
    o.vocabulary = 256, o.scaling = RotaryScaling::dynamic, o.scaling_factor = 2;
  });
  constexpr LlamaOptions yarn =
      changed(dynamic, [](auto& o) { o.scaling = RotaryScaling::yarn, o.mscale = 0.5; });
  constexpr LlamaOptions biases =
      changed(narrow, [](auto& o) { o.vocabulary = 256, o.window = 8, o.mlp_biases = true; });
  CHECK(has(refused<Llama<dynamic>>(), "llama.cpp has no dynamic scaling"));
  CHECK(has(refused<Llama<yarn>>(), "llama.cpp's yarn has no mscale"));
  CHECK(has(refused<Llama<biases>>(), "transformers has no class"));
  CHECK(has(refused<Gpt>(ExportParts{}), "no tokenizer is known"));
  const TemporaryFolder folder;
  const auto bert =
      config_json(Bert<{.layers = 1}>::hugging_face<Made<Bert<{.layers = 1}>, UpTo<1, 1>>>());
  CHECK(has(message_of<ArgumentError>([&] { hugging_face::gguf_model(bert, {}, Dtype::f32); }),
            "a model of the type bert is not written as GGUF"));
}

TEST_CASE("a number that is too large for the type of a GGUF file is an error, which leaves none") {
  const TemporaryFolder folder;
  Trainer<Tiny<Gpt>> trainer({.threads = 1});
  for (const Parameter& p : trainer.parameters())
    if (p.name.ends_with("c_fc.weight"))
      trainer.set_parameter(p.name, Numbers(std::size_t(p.size), 1e30));
  ExportParts parts;
  parts.bytes = true;
  CHECK(has(
      message_of<ArgumentError>([&] { export_to(trainer, parts, folder / "a.gguf", Dtype::f16); }),
      "too large a number for F16"));
  CHECK(fs::is_empty(folder.path()));
}

}  // namespace sinter::detail::testing::gguf_tests
