// SPDX-License-Identifier: Apache-2.0
// Adapters in PEFT's files, merged and beside the weights; and PEFT itself, where SINTER_PYTHON names one.
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sinter/error.hpp"
#include "sinter/files/safetensors.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/llama.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/parameters/lora.hpp"
#include "support/batches.hpp"
#include "support/recipes.hpp"
#include "support/references.hpp"
#include "unit/files/support.hpp"

namespace sinter::detail::testing::lora_files_tests {

constexpr int words = 19, positions = 8;
const TrainerSettings settings{.seed = 1, .threads = 1};

template <class Model, class... Policies>
using Net = Made<Model, UpTo<positions, words>, Batch<{.global = 2, .micro = 2}>, Policies...>;
using Gpt =
    Gpt2<{.layers = 2, .heads = 2, .width = 16, .vocabulary = words, .positions = positions}>;
using OfGpt = Lora<{.rank = 4, .alpha = 6}, Targets<"*.c_attn", "*.c_proj">>;
using LikeLlama = Llama<{.layers = 2,
                         .heads = 4,
                         .kv_heads = 2,
                         .width = 16,
                         .hidden = 24,
                         .vocabulary = words,
                         .positions = positions}>;
using OfLlama = Lora<{.rank = 3, .alpha = 5, .rslora = true}, Targets<"*.q_proj", "*.v_proj">,
                     ModulesToSave<"model.norm">>;

Numbers logits_of(TrainerCore& trainer) {
  HostBatch batch = sequences_of({positions});
  batch.ids.resize(2);
  for (int row = 0; row < positions; ++row) {
    batch.ids[0].push_back(row);
    batch.ids[1].push_back(0);
  }
  Numbers logits;
  trainer.predict_rows(batch, [&](const Prediction& part) {
    logits.insert(logits.end(), part.values.begin(), part.values.end());
  });
  return logits;
}

/// A trainer of the recipe R with known weights, whose B are not zero.
template <class R>
struct Known : Trainer<R> {
  explicit Known(std::uint64_t seed = 1) : Trainer<R>({.seed = seed, .threads = 1}) {
    if (seed == 1) set_reference_weights(*this);
  }
};

/// What adapter_config.json of an exported adapter says.
nlohmann::json config_in(const TemporaryFolder& folder) {
  return nlohmann::json::parse(std::ifstream(folder / "adapter/adapter_config.json"));
}
void set_config(const TemporaryFolder& folder, const nlohmann::json& config) {
  std::ofstream(folder / "adapter/adapter_config.json") << config;
}

/// first: the first layer that has an adapter, in transformers' names
template <class Model, class Adapter>
void check_files(const std::string& first, std::size_t targets, bool fan_in_fan_out,
                 const nlohmann::json& saved) {
  TemporaryFolder folder;
  Known<Net<Model, Adapter>> trainer;
  trainer.export_to(folder / "merged");
  trainer.export_adapter(folder / "adapter", "a/base");
  const SafetensorsFile file(folder / "adapter/adapter_model.safetensors");
  CHECK(file.find("base_model.model." + first + ".lora_A.weight"));
  const nlohmann::json config = config_in(folder);
  CHECK(config["target_modules"].size() == targets);
  CHECK(config["target_modules"][0] == first);
  CHECK(config["fan_in_fan_out"] == fan_in_fan_out);
  CHECK(config["modules_to_save"] == saved);

  // Merged weights are those of a model without adapters.
  Trainer<Net<Model>> plain(settings);
  plain.load_weights(folder / "merged");
  CHECK(relative_difference(logits_of(plain), logits_of(trainer)) < 1e-5);

  // The weights without adapters and the adapters together are the model again.
  NamedNumbers base;
  for (const Parameter& p : plain.parameters()) base[p.name] = trainer.parameter(p.name);
  set_parameters(plain, base);
  plain.export_to(folder / "base");
  Trainer<Net<Model, Adapter>> again({.seed = 2, .threads = 1});
  again.load_weights(folder / "base");
  for (const Parameter& p : again.parameters())
    if (p.adapter) CHECK((norm_of(again.parameter(p.name)) == 0) == p.name.ends_with("B.weight"));
  again.load_adapter(folder / "adapter");
  CHECK(parameters_of(again) == parameters_of(trainer));
  CHECK(logits_of(again) == logits_of(trainer));
}

TEST_CASE("adapters go to PEFT's files and back, and are merged on an export") {
  check_files<Gpt, OfGpt>("transformer.h.0.attn.c_attn", 6, true, nullptr);
  check_files<LikeLlama, OfLlama>("model.layers.0.self_attn.q_proj", 4, false, {"model.norm"});
}

/// What is said of an adapter whose adapter_config.json has other entries, too.
std::string refusal(TrainerCore& trainer, const nlohmann::json& entries) {
  TemporaryFolder folder;
  trainer.export_adapter(folder / "adapter", "");
  nlohmann::json config = config_in(folder);
  config.update(entries);
  set_config(folder, config);
  return refusal_of<FileError>([&] { trainer.load_adapter(folder / "adapter"); });
}

TEST_CASE("an adapter that computes otherwise is refused by the names of its entries") {
  Known<Net<Gpt, OfGpt>> trainer;
  CHECK(refusal(trainer, {{"use_dora", false}, {"megatron_core", "megatron.core"}}) == "");
  for (const nlohmann::json& entries : {nlohmann::json{{"use_dora", true}},
                                        {{"init_lora_weights", "pissa"}},
                                        {{"rank_pattern", {{"c_attn", 2}}}},
                                        {{"r", 5}},
                                        {{"lora_alpha", 8}},
                                        {{"use_rslora", true}},
                                        {{"bias", "all"}},
                                        {{"peft_type", "IA3"}},
                                        {{"of_a_later_version", 1}}}) {
    const std::string name = entries.begin().key();
    CAPTURE(name);
    CHECK(refusal(trainer, entries).find("\n  " + name + " is ") != std::string::npos);
  }
  for (const char* start : {"olora", "corda", "eva", "loftq"})
    CHECK(refusal(trainer, {{"init_lora_weights", start}})
              .find(std::string("\n  init_lora_weights is \"") + start +
                    "\", which changes the base weights") != std::string::npos);
  CHECK(refusal(trainer, {{"init_lora_weights", "gaussian"}}) == "");
  CHECK(refusal(trainer, {{"init_lora_weights", false}}) == "");
}

TEST_CASE("entries that choose the recipe's layers are taken, others are refused by their names") {
  Known<Net<Gpt, OfGpt>> trainer;
  const nlohmann::json ends{"c_attn", "c_proj"};
  CHECK(refusal(trainer, {{"target_modules", ends}, {"layers_to_transform", {0, 1}}}) == "");
  const auto refuses = [](TrainerCore& by, const nlohmann::json& entries, const std::string& part) {
    const std::string said = refusal(by, entries);
    CHECK_MESSAGE(said.find("\n  " + part) != std::string::npos, said);
  };
  refuses(trainer, {{"target_modules", {"c_attn"}}},
          "target_modules is [\"c_attn\"], which gives transformer.h.0.attn.c_proj none");
  refuses(
      trainer, {{"target_modules", {"c_attn", "c_fc", "c_proj"}}},
      "target_modules is [\"c_attn\",\"c_fc\",\"c_proj\"], with transformer.h.0.mlp.c_fc, which");
  refuses(trainer, {{"fan_in_fan_out", false}}, "fan_in_fan_out is false, and the weights");
  Known<Net<LikeLlama, OfLlama>> plain;
  CHECK(refusal(plain, {{"target_modules", {"q_proj", "v_proj", "norm"}}}) == "");  // trained whole
  refuses(plain, {{"fan_in_fan_out", true}}, "fan_in_fan_out is true, and the weights");
}

TEST_CASE("a broken adapter_config.json is refused by its name and the entry") {
  Known<Net<Gpt, OfGpt>> trainer;
  TemporaryFolder folder;
  trainer.export_adapter(folder / "adapter", "");
  const std::string path = folder / "adapter/adapter_config.json";
  const nlohmann::json good = nlohmann::json::parse(std::ifstream(path));
  const auto refused = [&](const std::string& text, const std::string& part) {
    std::ofstream(path) << text;
    const std::string said =
        refusal_of<FileError>([&] { trainer.load_adapter(folder / "adapter"); });
    CAPTURE(said);
    CHECK(said.find(path) != std::string::npos);
    CHECK(said.find(part) != std::string::npos);
  };
  refused("{\"r\": ", "it is not JSON (");
  refused("", "it is not JSON (");
  refused("[4]", "is no JSON object");
  const auto with = [&](const char* key, const nlohmann::json& value) {
    nlohmann::json other = good;
    other[key] = value;
    return other.dump();
  };
  refused(with("r", "four"), "\n  r is \"four\", and must be 4");
  refused(with("lora_dropout", "much"), "\n  lora_dropout is \"much\", and must be a number");
  refused(with("use_rslora", nullptr), "\n  use_rslora is null, and must be false");
  const auto without = [&](const char* key) {
    nlohmann::json other = good;
    other.erase(key);
    return other.dump();
  };
  refused(without("r"), "\n  r is missing, which stands for 8, and must be 4");
  refused(without("peft_type"), "\n  peft_type is missing, and must be \"LORA\"");
  std::filesystem::remove(path);
  CHECK(refusal_of<FileError>([&] { trainer.load_adapter(folder / "adapter"); }).find(path) !=
        std::string::npos);
}

TEST_CASE("an adapter of other layers is refused by the names of its tensors") {
  using Fewer = Lora<{.rank = 4, .alpha = 6}, Targets<"*.c_attn">>;
  Known<Net<Gpt, OfGpt>> all;
  Known<Net<Gpt, Fewer>> fewer;
  const auto refused = [](TrainerCore& from, TrainerCore& to, const std::string& tensor) {
    TemporaryFolder folder;
    from.export_adapter(folder / "adapter", "");
    nlohmann::json config = config_in(folder);
    config.erase("target_modules");  // which would be refused first
    set_config(folder, config);
    const std::string said = refusal_of<FileError>([&] { to.load_adapter(folder / "adapter"); });
    CHECK_MESSAGE(said.find(tensor) != std::string::npos, said);
  };
  refused(all, fewer, "h.0.attn.c_proj.lora_A.weight");
  refused(fewer, all, "h.0.attn.c_proj.lora_A.weight");
  refused(fewer, all, "h.0.attn.c_proj.lora_B.weight");
}

TEST_CASE("a recipe without Lora has no adapters, nor has one that transformers does not know") {
  Trainer<Net<Gpt>> plain(settings);
  CHECK(refusal_of<ArgumentError>([&] { plain.load_adapter("anywhere"); }).find("Lora") !=
        std::string::npos);
  Trainer<Made<Mlp<>, Batch<{.global = 2, .micro = 2}>, Lora<{.rank = 2}, Targets<"input">>>> mlp(
      settings);
  CHECK(refusal_of<ArgumentError>([&] {
          mlp.export_adapter("anywhere", "");
        }).find("transformers") != std::string::npos);
}

/// The floats of all tensors of a file, by name.
std::map<std::string, std::vector<float>> floats_of(const std::string& path) {
  const SafetensorsFile file(path);
  std::map<std::string, std::vector<float>> all;
  for (const TensorInfo& tensor : file.tensors()) {
    std::vector<float>& values = all[tensor.name];
    values.resize(tensor.elements());
    file.read(tensor, values.data(), Dtype::f32);
  }
  return all;
}
/// The distance from a float to the next one away from zero.
double last_place(float x) {
  return double(std::nextafter(std::abs(x), INFINITY)) - double(std::abs(x));
}
/// Σ |B| |A| of a weight as a float, in the order of the weight; none if it has no adapter.
/// trainer: has the adapters
std::vector<double> sizes_of_products(const TrainerCore& trainer, const Parameter& weight) {
  const std::string before = weight.name.substr(0, weight.name.rfind('.') + 1);
  const Parameter* of_a = nullptr;
  for (const Parameter& p : trainer.parameters())
    if (p.name == before + "lora_A.weight") of_a = &p;
  if (!of_a) return {};
  const Numbers a = trainer.parameter(of_a->name), b = trainer.parameter(before + "lora_B.weight");
  const auto in = std::size_t(weight.layer->in[0]), out = std::size_t(weight.layer->out[0]);
  const std::size_t rank = a.size() / in;
  std::vector<double> sizes(in * out);
  for (std::size_t o = 0; o < out; ++o)
    for (std::size_t i = 0; i < in; ++i)
      for (std::size_t r = 0; r < rank; ++r)
        sizes[weight.layer->fan_in_fan_out ? i * out + o : o * in + i] +=
            std::abs(b[o * rank + r] * a[r * in + i]);
  return sizes;
}
/// How far merged weights are from PEFT's at most, each number in units of what it may be.
/// Ours sums B A in double precision and rounds once, half a unit in the last place. PEFT rounds the last
/// sum as well, before that each of r terms of a sum in single precision, the factor s and its product: so
///   |ours - PEFT| <= ulp + (r + 2) 2^-24 s |B||A|
double worst_merge(const TrainerCore& trainer, const LoraOptions& lora, const std::string& own,
                   const std::string& peft, const std::string& prefix) {
  const auto ours = floats_of(own), theirs = floats_of(peft);
  const double factor = lora.alpha / (lora.rslora ? std::sqrt(lora.rank) : lora.rank);
  double worst = 0;
  int merged = 0;
  for (const Parameter& p : trainer.parameters()) {
    if (p.adapter) continue;
    const std::vector<float>&a = ours.at(p.name), &b = theirs.at(prefix + p.name);
    const std::vector<double> sizes = sizes_of_products(trainer, p);
    merged += !sizes.empty();
    for (std::size_t k = 0; k < a.size(); ++k) {
      const double terms = sizes.empty() ? 0 : factor * (lora.rank + 2) * 0x1p-24 * sizes[k];
      const double most = sizes.empty() ? 0 : std::max(last_place(a[k]), last_place(b[k])) + terms;
      const double apart = std::abs(double(a[k]) - double(b[k]));
      worst = std::max(worst, apart == 0 ? 0 : apart / most);
    }
  }
  CHECK(merged > 0);
  return worst;
}

template <class Model, class Adapter>
void exchange(const std::string& python, const std::string& prefix) {
  TemporaryFolder folder;
  Known<Net<Model, Adapter>> trainer;
  trainer.export_adapter(folder / "adapter", "");
  Trainer<Net<Model>> plain(settings);
  for (const Parameter& p : plain.parameters())
    plain.set_parameter(p.name, trainer.parameter(p.name));
  plain.export_to(folder / "base");
  trainer.export_to(folder / "own_merged");
  const std::string script = SINTER_SOURCE_DIR "/tests/support/lora_in_peft.py";
  REQUIRE(std::system(("'" + python + "' '" + script + "' '" + (folder / "base").string() + "' '" +
                       (folder / "adapter").string() + "' '" + (folder / "merged").string() +
                       "' '" + (folder / "own").string() + "' > '" + (folder / "logits").string() +
                       "' 2> '" + (folder / "log").string() + "'")
                          .c_str()) == 0);
  std::ifstream logits(folder / "logits");
  std::string with_adapter, with_own;
  std::getline(logits, with_adapter);
  std::getline(logits, with_own);
  const auto numbers = [](const std::string& row) {
    return nlohmann::json::parse(row).template get<Numbers>();
  };
  CHECK(relative_difference(logits_of(trainer), numbers(with_adapter)) < 1e-5);
  CHECK(worst_merge(trainer, Adapter::options, folder / "own_merged/model.safetensors",
                    folder / "merged/model.safetensors", prefix) <= 1);
  trainer.load_adapter(folder / "own");
  CHECK(relative_difference(logits_of(trainer), numbers(with_own)) < 1e-5);
}

TEST_CASE("PEFT loads, merges and writes adapters, where SINTER_PYTHON has it") {
  const auto python = python_with("torch, transformers, peft");
  if (!python) return;
  exchange<Gpt, OfGpt>(*python, "transformer.");
  exchange<LikeLlama, OfLlama>(*python, "");
}

}  // namespace sinter::detail::testing::lora_files_tests
