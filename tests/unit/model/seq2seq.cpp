// SPDX-License-Identifier: Apache-2.0
// Seq2Seq against Hugging Face's BART, Blenderbot Small and Marian: tests/data/seq2seq.txt, which
// scripts/seq2seq_reference.py has written, and the library itself where SINTER_PYTHON names one.
#include "sinter/model/seq2seq.hpp"

#include <numeric>

#include "sinter/files/safetensors.hpp"
#include "support/small_models.hpp"

namespace sinter::detail::testing::seq2seq_tests {

namespace fs = std::filesystem;

constexpr int words = 19, positions = 8;
const std::vector<int> texts{7, 3, 8, 1, 5}, replies{4, 6, 1, 8, 3};

constexpr Seq2SeqOptions bart{.encoder_layers = 2,
                              .decoder_layers = 3,
                              .heads = 2,
                              .width = 16,
                              .hidden = 24,
                              .vocabulary = words,
                              .positions = positions,
                              .position_offset = 2,
                              .encoder_norm = EmbeddingNorm::after_positions,
                              .decoder_norm = EmbeddingNorm::after_positions,
                              .dropout = 0,
                              .start = 1,
                              .end = 2,
                              .pad = 0};
constexpr Seq2SeqOptions blenderbot_small = changed(bart, [](auto& o) {
  o.position_offset = 0, o.decoder_norm = EmbeddingNorm::before_positions, o.scale_embedding = true;
});
constexpr Seq2SeqOptions marian = changed(bart, [](auto& o) {
  o.position = Positions::sinusoidal, o.position_offset = 0,
  o.encoder_norm = o.decoder_norm = EmbeddingNorm::none, o.activation = Activation::silu,
  o.scale_embedding = true;
});
/// The shape of ParlAI's transformer/generator.
constexpr Seq2SeqOptions parlai = changed(marian, [](auto& o) { o.activation = Activation::relu; });

template <Seq2SeqOptions O>
using Tiny = Small<Seq2Seq<O>, UpToBoth<positions, positions, words>>;

/// The batch of the reference.
HostBatch batch_of() {
  HostBatch batch = sequences_of(replies);
  batch.second_starts = sequences_of(texts).starts;
  batch.ids.resize(3);
  for (int s = 0; s < int(texts.size()); ++s) {
    for (int row = 0; row < texts[std::size_t(s)]; ++row)
      batch.ids[0].push_back(1 + (row * 7 + s * 5 + 3) % (words - 1));
    for (int row = 0; row < replies[std::size_t(s)]; ++row) {
      batch.ids[1].push_back(1 + (row * 11 + s * 3 + 1) % (words - 1));
      batch.ids[2].push_back(row == 2 ? -1 : (row * 3 + s) % words);
    }
  }
  return batch;
}

/// The batch with texts that are padded to the longest, as transformers takes them with a mask.
HostBatch padded_batch() {
  const HostBatch batch = batch_of();
  HostBatch padded = batch;
  const int longest = *std::ranges::max_element(texts);
  padded.second_starts.assign(1, 0);
  padded.ids[0].clear();
  for (int s = 0; s < int(texts.size()); ++s) {
    const auto first = batch.ids[0].begin() + batch.second_starts[std::size_t(s)];
    padded.ids[0].insert(padded.ids[0].end(), first, first + texts[std::size_t(s)]);
    padded.second_lengths.push_back(texts[std::size_t(s)]);
    padded.second_starts.push_back((s + 1) * longest);
    padded.ids[0].resize(std::size_t(padded.second_starts.back()), 0);
  }
  return padded;
}

/// What the decoder gives at each of its rows.
Numbers logits_of(TrainerCore& trainer, const HostBatch& batch) {
  Numbers logits;
  trainer.predict_rows(batch, [&](const Prediction& part) {
    logits.insert(logits.end(), part.values.begin(), part.values.end());
  });
  return logits;
}

/// A line of a text's ids and those that the decoder reads, for each pair.
std::string lines_of(const HostBatch& batch) {
  std::string text;
  auto add = [&](int input, int axis, int s) {
    const HostBatch::Rows own = batch.own_rows(axis, s);
    for (int row = own.begin; row < own.end; ++row)
      text += std::to_string(batch.ids[std::size_t(input)][std::size_t(row)]) + " ";
  };
  for (int s = 0; s < batch.sequences(); ++s) {
    add(0, 1, s);
    text += "|";
    add(1, 0, s);
    text += "\n";
  }
  return text;
}

template <Seq2SeqOptions O>
void compare(const std::string& name, const std::string& architecture) {
  for (const HostBatch& batch : {batch_of(), padded_batch()}) {
    CAPTURE(batch.second_lengths.size());
    Trainer<Tiny<O>> trainer({.seed = 1, .threads = 2});
    set_reference_weights(trainer);
    const Numbers bias = trainer.parameter("final_logits_bias");
    compare_with_reference(trainer, read_references("seq2seq.txt")[name], architecture, batch,
                           lines_of(batch), logits_of);
    CHECK(trainer.parameter("final_logits_bias") == bias);
  }
}

TEST_CASE("Seq2Seq predicts and learns as BartForConditionalGeneration") {
  compare<bart>("bart", "BartForConditionalGeneration");
}
TEST_CASE("Seq2Seq predicts and learns as BlenderbotSmallForConditionalGeneration") {
  compare<blenderbot_small>("blenderbot_small", "BlenderbotSmallForConditionalGeneration");
}
TEST_CASE("Seq2Seq predicts and learns as MarianMTModel") {
  compare<marian>("marian", "MarianMTModel");
}
TEST_CASE("Seq2Seq predicts and learns as MarianMTModel with ParlAI's activation") {
  compare<parlai>("parlai", "MarianMTModel");
}

TEST_CASE("the bias of logits has the shape of Hugging Face's, and is not trained") {
  TemporaryFolder folder;
  Trainer<Tiny<bart>> trainer({.seed = 1, .threads = 1}), other({.seed = 2, .threads = 1});
  set_reference_weights(trainer);
  trainer.export_to(folder / "exported");
  const SafetensorsFile file(folder / "exported/model.safetensors");
  const auto bias = std::ranges::find(file.tensors(), "final_logits_bias", &TensorInfo::name);
  REQUIRE(bias != file.tensors().end());
  CHECK(bias->shape == std::vector<std::int64_t>{1, words});
  other.load_weights(folder / "exported");
  CHECK(parameters_of(other) == parameters_of(trainer));
  CHECK(std::ranges::count_if(trainer.parameters(), &Parameter::frozen) == 1);
}

/// The tensors of a file under other names; those without a name are left out.
void rename(const fs::path& from, const fs::path& to, auto name_of) {
  const SafetensorsFile file(from);
  std::map<std::string, std::vector<float>> content;
  std::vector<TensorView> tensors;
  for (const TensorInfo& tensor : file.tensors()) {
    const std::string name = name_of(tensor.name);
    if (name.empty()) continue;
    auto& kept = content[name];
    kept.resize(std::size_t(std::accumulate(tensor.shape.begin(), tensor.shape.end(),
                                            std::int64_t(1), std::multiplies<>())));
    file.read(tensor, kept.data(), Dtype::f32);
    tensors.push_back({name, Dtype::f32, tensor.shape, kept.data(), kept.size() * sizeof(float)});
  }
  write_safetensors(to, tensors);
}

TEST_CASE("files of a body alone are read, and the bias starts at zero") {
  TemporaryFolder folder;
  Trainer<Tiny<bart>> trainer({.seed = 1, .threads = 1}), other({.seed = 2, .threads = 1});
  set_reference_weights(trainer);
  trainer.export_to(folder / "exported");
  const std::string body = folder / "body.safetensors";
  rename(folder / "exported/model.safetensors", body, [](const std::string& name) {
    return name == "final_logits_bias" ? "" : name.substr(std::string("model.").size());
  });
  CHECK_THROWS_WITH_AS(other.load_weights(body), doctest::Contains("final_logits_bias"), FileError);
  const std::string told = other.load_weights(body, "", MissingHead::starts_fresh);
  CHECK(told.find("final_logits_bias") != told.npos);
  auto want = parameters_of(trainer);
  want["final_logits_bias"] = Numbers(words, 0);
  CHECK(parameters_of(other) == want);
}

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST_CASE("a config is held to the model, in transformers' older words, too") {
  TemporaryFolder folder;
  Trainer<Tiny<marian>> trainer({.seed = 1, .threads = 1});
  trainer.export_to(folder / "exported");
  const fs::path config = folder / "exported/config.json";
  const std::string now = text_of(config);
  auto say = [&](const std::string& word, const std::string& other) {
    std::string changed = now;
    const std::size_t at = changed.find(word);
    REQUIRE(at != changed.npos);
    std::ofstream(config) << changed.replace(at, word.size(), other);
  };
  say("\"silu\"", "\"swish\"");
  trainer.load_weights(folder / "exported");
  say("\"silu\"", "\"relu\"");
  CHECK_THROWS_WITH_AS(trainer.load_weights(folder / "exported"),
                       doctest::Contains("activation_function"), FileError);
  say("\"scale_embedding\": true", "\"scale_embedding\": false");
  CHECK_THROWS_WITH_AS(trainer.load_weights(folder / "exported"),
                       doctest::Contains("scale_embedding"), FileError);
}

/// √1, √2, … as the compiler forms them.
template <int... W>
constexpr std::array<double, sizeof...(W)> roots(std::integer_sequence<int, W...>) {
  return {rounded_square_root(W + 1)...};
}

TEST_CASE("embeddings are scaled by the root of the width that double has, to the last bit") {
  constexpr auto all = roots(std::make_integer_sequence<int, 1024>{});
  int different = 0;
  for (int w = 1; w <= int(all.size()); ++w)
    different += all[std::size_t(w - 1)] != std::sqrt(double(w));
  CHECK(different == 0);
  static constexpr Seq2SeqOptions odd = changed(marian, [](auto& o) { o.width = 10; });
  using Placed = seq2seq::Placed<odd, EmbeddingNorm::none>;
  CHECK(Placed::factor == std::sqrt(10.0));
  CHECK(float(Placed::factor) == float(square_root(10)));  // the bits of Fp32 stay
}

constexpr Seq2SeqOptions marian_without_ids =
    changed(marian, [](auto& o) { o.start = o.end = o.pad = -1; });

TEST_CASE("ids that the options do not say are left to transformers") {
  TemporaryFolder folder;
  Trainer<Tiny<marian_without_ids>> trainer({.seed = 1, .threads = 1});
  set_reference_weights(trainer);
  trainer.export_to(folder / "exported");
  const std::string config = text_of(folder / "exported/config.json");
  CHECK(config.find("\"pad_token_id\": null") != config.npos);
  for (const char* key : {"decoder_start_token_id", "eos_token_id"})
    CHECK(config.find(key) == config.npos);
  if (const Numbers library = logits_of_library(trainer, "MarianMTModel", lines_of(batch_of()));
      !library.empty())
    CHECK(relative_difference(library, read_references("seq2seq.txt")["marian"].logits) < 1e-5);
}

constexpr Seq2SeqOptions of_no_class =
    changed(bart, [](auto& o) { o.decoder_norm = EmbeddingNorm::none; });

TEST_CASE("a Seq2Seq that transformers has no class for is exported as weights only") {
  TemporaryFolder folder;
  Trainer<Tiny<of_no_class>> trainer({.seed = 1, .threads = 1});
  const HostBatch batch = batch_of();
  const double before = applied(trainer, batch).loss.mean();
  for (int step = 0; step < 30; ++step) applied(trainer, batch);
  CHECK(trainer.evaluate(batch).mean() < .9 * before);
  trainer.export_to(folder / "exported");
  CHECK(fs::exists(folder / "exported/model.safetensors"));
  CHECK(!fs::exists(folder / "exported/config.json"));
}

}  // namespace sinter::detail::testing::seq2seq_tests
