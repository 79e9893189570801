// SPDX-License-Identifier: Apache-2.0
// Llama, Mistral and Qwen2 in single precision against transformers: logits and 20 steps of tiny
// models whose weights are those of a formula. scripts/llama_reference.py wrote what transformers gives;
// where SINTER_PYTHON names a Python that has it, files go both ways, too.
#include "sinter/model/llama.hpp"

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "sinter/clipping/clip_norm.hpp"
#include "sinter/error.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "support/batches.hpp"
#include "support/folder.hpp"
#include "support/json_rows.hpp"
#include "support/message_of.hpp"
#include "support/python.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing::llama_tests {

constexpr int vocabulary = 13, context = 9, micro = 2;

constexpr LlamaOptions usual{.layers = 2,
                             .heads = 4,
                             .kv_heads = 2,
                             .width = 32,
                             .hidden = 40,
                             .vocabulary = vocabulary,
                             .positions = 64,
                             .theta = 1000,
                             .eps = 1e-6};
constexpr LlamaOptions llama3 = changed(usual, [](auto& o) {
  o.theta = 100, o.eps = 1e-5;
  o.scaling = RotaryScaling::llama3, o.scaling_factor = 8, o.original_positions = 64;
});
constexpr LlamaOptions tied = changed(usual, [](auto& o) {
  o.heads = 2, o.kv_heads = 0, o.theta = LlamaOptions{}.theta, o.tied = true;
  o.scaling = RotaryScaling::linear, o.scaling_factor = 2;
});
constexpr LlamaOptions qwen2 = changed(usual, [](auto& o) { o.kv_heads = 1, o.qkv_biases = true; });
constexpr LlamaOptions qwen2_window = changed(qwen2, [](auto& o) { o.window = 4; });
constexpr LlamaOptions mistral = changed(usual, [](auto& o) { o.head_width = 12, o.window = 3; });
constexpr LlamaOptions biases =
    changed(usual, [](auto& o) { o.attention_biases = o.mlp_biases = true; });
constexpr LlamaOptions yarn = changed(usual, [](auto& o) {
  o.heads = 2, o.kv_heads = 0, o.theta = 100;
  o.scaling = RotaryScaling::yarn, o.scaling_factor = 4, o.original_positions = 16, o.beta_fast = 2;
});
/// transformers takes the angles of the longest sequence that it has seen; here it is of 8.
constexpr LlamaOptions dynamic = changed(usual, [](auto& o) {
  o.heads = 2, o.kv_heads = 0, o.positions = 8, o.theta = 100;
  o.scaling = RotaryScaling::dynamic, o.scaling_factor = 2, o.original_positions = 3;
});

template <LlamaOptions O>
using Tiny = Made<Llama<O>, UpTo<std::min(context, O.positions), vocabulary>,
                  Batch<{.global = 4, .micro = micro}>, AdamW<{.lr = 1e-2, .weight_decay = .1}>,
                  ClipNorm<{.max = 1}>>;

/// The script's numbers(): within ±1/4, of a name.
Numbers numbers(const std::string& name, std::int64_t count) {
  std::uint32_t key = 2166136261u;
  for (char c : name) key = (key ^ static_cast<unsigned char>(c)) * 16777619u;
  Numbers values;
  for (std::uint32_t k = 0; k < count; ++k) {
    std::uint32_t h = key + k * 2654435761u;
    h = (h ^ (h >> 15)) * 2246822519u;
    h = (h ^ (h >> 13)) * 3266489917u;
    values.push_back(double(h ^ (h >> 16)) / 0x1p33 - .25);
  }
  return values;
}

void set_weights(TrainerCore& trainer) {
  for (const Parameter& p : trainer.parameters()) {
    Numbers values = numbers(p.name, p.size);
    if (p.name.find("norm") != std::string::npos)
      for (double& value : values) value += 1;
    trainer.set_parameter(p.name, values);
  }
}

using Ids = std::vector<std::int32_t>;

/// The script's ids().
Ids ids(int count, int salt) {
  Ids result;
  for (int k = 0; k < count; ++k) result.push_back((k * k * 7 + k * 3 + salt * 5) % vocabulary);
  return result;
}

/// The logits of every place of a sequence: those of what follows each of its beginnings.
Numbers logits_of(TrainerCore& trainer, const Ids& sequence) {
  Numbers result;
  for (int last = 1; last <= int(sequence.size()); last += micro) {
    HostBatch batch;
    batch.ids.resize(1);
    for (int length = last; length < last + micro && length <= int(sequence.size()); ++length) {
      batch.ids[0].insert(batch.ids[0].end(), sequence.begin(), sequence.begin() + length);
      batch.starts.push_back(batch.starts.back() + length);
    }
    trainer.predict(batch);
    int rows = 0, columns = 0;
    const auto* values = trainer.machine().result(0, rows, columns).as<float>();
    result.insert(result.end(), values, values + std::int64_t(rows) * columns);
  }
  return result;
}

Numbers flat(const nlohmann::json& rows) {
  Numbers result;
  for (const auto& row : rows)
    for (const auto& value : row) result.push_back(value.get<double>());
  return result;
}

/// Sequences whose targets are the ids that follow.
HostBatch batch_of(int step) {
  HostBatch batch = sequences_of({8, 8, 8, 8});
  batch.ids.resize(2);
  for (int s = 0; s < batch.sequences(); ++s) {
    const Ids row = ids(9, 100 * step + s);
    batch.ids[0].insert(batch.ids[0].end(), row.begin(), row.end() - 1);
    batch.ids[1].insert(batch.ids[1].end(), row.begin() + 1, row.end());
  }
  return batch;
}

template <LlamaOptions O>
void compare(const char* name) {
  CAPTURE(name);
  const auto file = json_rows(std::string(SINTER_SOURCE_DIR) + "/tests/data/model/llama.json");
  const nlohmann::json& want = file.at(0).at(name);
  Trainer<Tiny<O>> trainer({.seed = 1, .threads = 2});
  set_weights(trainer);
  Numbers logits;
  for (const Ids& sequence : {ids(std::min(context, O.positions), 0), ids(4, 1), ids(1, 2)}) {
    const Numbers some = logits_of(trainer, sequence);
    logits.insert(logits.end(), some.begin(), some.end());
  }
  CHECK(relative_difference(logits, flat(want.at("logits"))) < 1e-5);
  const auto losses = want.at("losses").get<Numbers>(), norms = want.at("norms").get<Numbers>();
  REQUIRE(losses.size() == 20);
  CHECK(losses.back() < losses.front() - .5);                // it learns, or nothing is compared
  CHECK(*std::max_element(norms.begin(), norms.end()) > 1);  // and the clipping clips
  for (int step = 0; step < 20; ++step) {
    CAPTURE(step);
    const Applied ours = applied(trainer, batch_of(step));
    CHECK(relative_difference(ours.loss.mean(), losses[std::size_t(step)]) < 1e-4);
    CHECK(relative_difference(ours.gradient_norm, norms[std::size_t(step)]) < 1e-4);
  }
}

TEST_CASE("Llama with shared keys and Llama 3's scaling is that of transformers") {
  compare<llama3>("llama");
}
TEST_CASE("Llama with a tied head and linear scaling is that of transformers") {
  compare<tied>("tied");
}
TEST_CASE("Llama with biases of attention and of the perceptron is that of transformers") {
  compare<biases>("biases");
}
TEST_CASE("Llama scaled by yarn is that of transformers") { compare<yarn>("yarn"); }
TEST_CASE("Llama with dynamic scaling is that of transformers in sequences of `positions`") {
  compare<dynamic>("dynamic");
}
TEST_CASE("Llama with biases is Qwen2 of transformers") { compare<qwen2>("qwen2"); }
TEST_CASE("Llama with a window and wider heads is Mistral of transformers") {
  compare<mistral>("mistral");
}
TEST_CASE("Llama with biases and a window is Qwen2 with one in all layers") {
  compare<qwen2_window>("qwen2_window");
}

/// What the Python prints, line by line as JSON; empty where it fails.
std::vector<nlohmann::json> lines_of(const std::string& command, const fs::path& into) {
  REQUIRE(std::system((command + " > " + into.string()).c_str()) == 0);
  return json_rows(into);
}

template <LlamaOptions O>
void exchange(const std::string& python) {
  const TemporaryFolder folder;
  Trainer<Tiny<O>> trainer({.seed = 1, .threads = 1});
  set_weights(trainer);
  trainer.export_to(folder / "exported");
  const std::string script =
      std::string(SINTER_SOURCE_DIR) + "/tests/support/llama_in_transformers.py";
  const auto rows = lines_of("'" + python + "'" + " '" + script + "' " +
                                 (folder / "exported").string() + " " + (folder / "own").string(),
                             folder / "logits.jsonl");
  REQUIRE(rows.size() == 2);
  const Ids sequence{0, 1, 2, 3, 4, 5, 6, 7, 8};
  CHECK(relative_difference(logits_of(trainer, sequence), flat(rows[0])) < 1e-5);
  trainer.load_weights(folder / "own");
  CHECK(relative_difference(logits_of(trainer, sequence), flat(rows[1])) < 1e-5);
}

TEST_CASE("files go to transformers and back, where SINTER_PYTHON has it") {
  const auto python = python_with("torch, transformers");
  if (!python) return;
  exchange<llama3>(*python);
  exchange<tied>(*python);
  exchange<qwen2>(*python);
  exchange<biases>(*python);
  exchange<yarn>(*python);
  exchange<mistral>(*python);
  exchange<qwen2_window>(*python);
}

/// What is said of a folder whose config.json has these entries and nothing else.
std::string refusal(TrainerCore& trainer, const std::string& entries) {
  const TemporaryFolder folder;
  trainer.export_to(folder / "model");
  std::ofstream(folder / "model" / "config.json") << "{" << entries << "}";
  return refusal_of<FileError>([&] { trainer.load_weights(folder / "model"); });
}

TEST_CASE("a folder of other angles is refused, whichever version of transformers wrote it") {
  Trainer<Tiny<tied>> trainer({.threads = 1});
  CHECK(refusal(trainer, R"("rope_theta": 10000.0,
    "rope_scaling": {"factor": 2.0, "rope_type": "linear", "type": "linear"})") == "");
  CHECK(refusal(trainer, R"("rope_parameters":
    {"rope_type": "linear", "rope_theta": 1e4, "factor": 2})") == "");
  CHECK(refusal(trainer, R"("rope_scaling": {"factor": 2, "type": "linear"})") ==
        "");  // older files
  for (const char* other : {
           R"("rope_theta": 500000.0)",
           R"("rope_scaling": null)",
           R"("rope_scaling": {"factor": 4.0, "rope_type": "linear"})",
           R"("rope_scaling": {"factor": 2.0, "rope_type": "yarn"})",
           R"("rope_scaling": {"factor": 2.0, "rope_type": "longrope"})",
           R"("rope_scaling": {"factor": 2.0, "type": "dynamic"})",
           R"("rope_scaling": {"rope_type": "default"})",
           R"("rope_parameters": {"rope_type": "linear", "rope_theta": 1e6, "factor": 2})",
           R"("rope_parameters": {"rope_type": "default", "rope_theta": 1e4})",
       }) {
    CAPTURE(other);
    CHECK(refusal(trainer, other).find("\n  rope_") != std::string::npos);
  }
}

TEST_CASE("the angles of yarn and of dynamic scaling are those of transformers") {
  const auto file = json_rows(std::string(SINTER_SOURCE_DIR) + "/tests/data/model/llama.json");
  REQUIRE(file.at(0).at("angles").size() == 5);
  for (const auto& row : file.at(0).at("angles")) {
    const auto& scaling = row.at("scaling");
    CAPTURE(row.at("scaling").dump());
    const int depth = row.at("head_dim"), half = depth / 2, positions = 4096;
    const bool is_yarn = scaling.at("rope_type") == "yarn";
    const RotaryOptions options{
        .theta = row.at("rope_theta"),
        .scaling = is_yarn ? RotaryScaling::yarn : RotaryScaling::dynamic,
        .factor = scaling.at("factor"),
        .original_positions = scaling.value("original_max_position_embeddings", positions),
        .positions = row.value("length", positions),
        .beta_fast = scaling.value("beta_fast", 32.),
        .beta_slow = scaling.value("beta_slow", 1.),
        .attention_factor = scaling.value("attention_factor", 0.),
        .mscale = scaling.value("mscale", 0.),
        .mscale_all_dim = scaling.value("mscale_all_dim", 0.),
        .truncate = scaling.value("truncate", true)};
    const std::int32_t starts[]{0, 2};
    Numbers table(std::size_t(2 * depth)), turns, factors;
    kernel::Stream stream(1);
    kernel::rotary_table(stream, options, {starts, 1, 2},
                         kernel::Tensor<double>(table.data(), 2, depth));
    for (int i = 0; i < half; ++i) {
      const double cosine = table[std::size_t(depth + i)],
                   sine = table[std::size_t(depth + half + i)];
      turns.push_back(std::atan2(sine, cosine));
      factors.push_back(std::hypot(sine, cosine));
    }
    const auto frequencies = row.at("frequencies").get<Numbers>();
    REQUIRE(int(frequencies.size()) == half);
    for (int i = 0; i < half; ++i) {  // transformers computes in single precision
      CAPTURE(i);
      CHECK(turns[std::size_t(i)] == doctest::Approx(frequencies[std::size_t(i)]).epsilon(2e-6));
      CHECK(factors[std::size_t(i)] == doctest::Approx(row.at("factor").get<double>()));
    }
  }
}

TEST_CASE("a folder scaled by yarn is taken without what is usual, and refused with another") {
  Trainer<Tiny<yarn>> trainer({.threads = 1});
  const std::string begin = R"("rope_theta": 100.0, "rope_scaling": {"rope_type": "yarn",
    "factor": 4, "original_max_position_embeddings": 16, "beta_fast": 2)";
  CHECK(refusal(trainer, begin + "}") == "");
  CHECK(refusal(trainer, begin + R"(, "beta_slow": 1, "attention_factor": null, "mscale": null,
    "mscale_all_dim": null, "truncate": true})") == "");
  for (const char* other :
       {R"(, "beta_slow": 1.5})", R"(, "attention_factor": 1.0})", R"(, "mscale": 0.7})",
        R"(, "mscale_all_dim": 0.7})", R"(, "truncate": false})", R"(, "beta_fast": null})",
        R"(, "original_max_position_embeddings": 32})"}) {
    CAPTURE(other);
    CHECK(refusal(trainer, begin + other).find("\n  rope_scaling") != std::string::npos);
  }
}

TEST_CASE(
    "a folder with dynamic scaling is refused with other positions, which change its angles") {
  Trainer<Tiny<dynamic>> trainer({.threads = 1});
  const std::string scaling = R"("rope_scaling": {"type": "dynamic", "factor": 2.0})";
  CHECK(refusal(trainer, scaling + R"(, "max_position_embeddings": 3)") == "");
  CHECK(refusal(trainer, scaling + R"(, "max_position_embeddings": 8)")
            .find("\n  max_position_embeddings: 8 in the file, 3 in this recipe") !=
        std::string::npos);
}

TEST_CASE("a folder with other biases is refused") {
  Trainer<Tiny<biases>> with({.threads = 1});
  CHECK(refusal(with, R"("attention_bias": true, "mlp_bias": true)") == "");
  CHECK(refusal(with, R"("attention_bias": false)").find("\n  attention_bias: false") !=
        std::string::npos);
  Trainer<Tiny<tied>> without({.threads = 1});
  CHECK(refusal(without, R"("mlp_bias": true)").find("\n  mlp_bias: true") != std::string::npos);
}

TEST_CASE("biases of no class of transformers have weights, and no config") {
  constexpr LlamaOptions own = changed(mistral, [](auto& o) { o.mlp_biases = true; });
  const HuggingFace files = Llama<own>::hugging_face<Tiny<own>>();
  CHECK(files.config.empty());
  CHECK(files.prefix == "model.");
}

TEST_CASE("a Mistral is refused where its window is another, and is a Llama where it has none") {
  Trainer<Tiny<tied>> without({.threads = 1});
  CHECK(refusal(without, R"("model_type": "mistral", "sliding_window": null)") == "");
  CHECK(refusal(without, R"("model_type": "mistral", "sliding_window": 4096)")
            .find("\n  sliding_window: 4096 in the file, null in this recipe") !=
        std::string::npos);
  CHECK(refusal(without, R"("model_type": "mistral")")  // which is 4096
            .find("\n  sliding_window: nothing in the file, null in this recipe") !=
        std::string::npos);
  Trainer<Tiny<mistral>> windowed({.threads = 1});
  CHECK(refusal(windowed, R"("model_type": "mistral", "sliding_window": 3)") == "");
  for (const char* other : {"4096", "null"})
    CHECK(refusal(windowed, R"("model_type": "mistral", "sliding_window": )" + std::string(other))
              .find("\n  sliding_window: " + std::string(other) +
                    " in the file, 3 in this recipe") != std::string::npos);
  CHECK(refusal(windowed, R"("model_type": "llama")")
            .find("\n  model_type: \"llama\" in the file, \"mistral\" in this recipe") !=
        std::string::npos);
}

TEST_CASE("a Qwen2 whose window is in some layers alone is refused by name") {
  Trainer<Tiny<qwen2>> without({.threads = 1});
  CHECK(refusal(without, R"("use_sliding_window": false, "sliding_window": 4)") == "");
  CHECK(refusal(without, R"("use_sliding_window": true)").find("\n  use_sliding_window: true") !=
        std::string::npos);
  Trainer<Tiny<qwen2_window>> windowed({.threads = 1});
  const std::string as_ours = R"("use_sliding_window": true, "sliding_window": 4, )";
  CHECK(refusal(windowed, as_ours + R"("max_window_layers": 0)") == "");
  CHECK(refusal(windowed, as_ours + R"("max_window_layers": 1)")
            .find("\n  max_window_layers: 1 in the file, 0 in this recipe") != std::string::npos);
  CHECK(refusal(windowed, as_ours + R"("layer_types": ["full_attention", "sliding_attention"])")
            .find("\n  layer_types: ") != std::string::npos);
}

TEST_CASE("a file that leaves the width of heads open has width / heads") {
  Trainer<Tiny<tied>> plain({.threads = 1});
  CHECK(refusal(plain, R"("head_dim": null)") == "");
  CHECK(refusal(plain, R"("head_dim": 12)").find("\n  head_dim: 12") != std::string::npos);
  Trainer<Tiny<mistral>> wider({.threads = 1});
  CHECK(refusal(wider, R"("head_dim": null)").find("\n  head_dim: null") != std::string::npos);
}

TEST_CASE("a config.json may say in several ways that nothing is scaled") {
  Trainer<Tiny<qwen2>> trainer({.threads = 1});
  for (const char* none : {R"("rope_scaling": null)", R"("rope_scaling": {"rope_type": "default"})",
                           R"("rope_scaling": {"type": "default"})", R"("head_dim": null)"}) {
    CAPTURE(none);
    CHECK(refusal(trainer, none) == "");
  }
}

}  // namespace sinter::detail::testing::llama_tests
