// SPDX-License-Identifier: Apache-2.0
#include "sinter/files/load.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "unit/files/support.hpp"

namespace sinter::detail::testing::load_tests {

/// Tensors by name and shape, filled with 1, 2, 3 … from `first` on.
struct Made {
  std::vector<std::vector<float>> values;
  std::vector<TensorView> views;

  void add(const std::string& name, const Shape& shape, float first) {
    std::size_t count = 1;
    for (std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
    std::vector<float> filled(count);
    for (std::size_t k = 0; k < count; ++k) filled[k] = first + static_cast<float>(k);
    values.push_back(std::move(filled));
    views.push_back({name, Dtype::f32, shape, values.back().data(), count * 4});
  }
  void write(const fs::path& path) const { write_safetensors(path, views); }
};

const LoadRules gpt2{
    "transformer.", {".attn.bias", ".attn.masked_bias"}, {{"lm_head.weight", "wte.weight"}}};

/// A model of three tensors.
struct Model {
  std::vector<float> wte = std::vector<float>(6, -1), bias = std::vector<float>(3, -1);
  std::vector<double> wide = std::vector<double>(2, -1);
  std::vector<Expected> expected{{"wte.weight", {3, 2}, wte.data(), Dtype::f32},
                                 {"h.0.attn.c_attn.bias", {3}, bias.data(), Dtype::f32},
                                 {"ln_f.weight", {2}, wide.data(), Dtype::f64}};
  bool untouched() const {
    return wte == std::vector<float>(6, -1) && bias == std::vector<float>(3, -1) &&
           wide == std::vector<double>(2, -1);
  }
  bool loaded() const {
    return wte == std::vector<float>{1, 2, 3, 4, 5, 6} && bias == std::vector<float>{7, 8, 9} &&
           wide == std::vector<double>{10, 11};
  }
};

Made right(const std::string& prefix = "") {
  Made made;
  made.add(prefix + "wte.weight", {3, 2}, 1);
  made.add(prefix + "h.0.attn.c_attn.bias", {3}, 7);
  made.add(prefix + "ln_f.weight", {2}, 10);
  return made;
}

TEST_CASE("an exact match is loaded, with conversion, with and without the prefix") {
  for (const char* prefix : {"", "transformer."}) {
    TemporaryFolder folder;
    right(prefix).write(folder / "m");
    Model model;
    load_tensors(folder / "m", model.expected, gpt2);
    CHECK(model.loaded());
  }
  TemporaryFolder folder;
  right("transformer.").write(folder / "m");
  Model model;
  CHECK_THROWS_AS(load_tensors(folder / "m", model.expected), FileError);
  CHECK(model.untouched());
}

TEST_CASE("a single whole number, as torch counts batches, is read as a real one; two are not") {
  TemporaryFolder folder;
  const std::vector<std::int64_t> counts{7504, 2};
  const std::vector<TensorView> one{{"batches", Dtype::i64, {}, counts.data(), 8}},
      two{{"batches", Dtype::i64, {2}, counts.data(), 16}};
  write_safetensors(folder / "one", one);
  write_safetensors(folder / "two", two);
  std::vector<float> into(2);
  auto load = [&](const char* file, const Shape& shape) {
    const std::vector<Expected> expected{{"batches", shape, into.data(), Dtype::f32}};
    load_tensors(folder / file, expected);
  };
  load("one", {});
  CHECK(into == std::vector<float>{7504, 0});
  const std::string text = message_of([&] { load("two", {2}); });
  CHECK(contains(text, "wrong type: batches is I64, which cannot be read as F32"));
}

TEST_CASE("mask buffers are passed over, a tied head must be equal") {
  TemporaryFolder folder;
  Made made = right("transformer.");
  made.add("transformer.h.0.attn.bias", {1, 1, 4, 4}, 0);
  made.add("transformer.h.0.attn.masked_bias", {}, 0);
  made.add("lm_head.weight", {3, 2}, 1);
  made.write(folder / "m");
  Model model;
  load_tensors(folder / "m", model.expected, gpt2);
  CHECK(model.loaded());

  for (auto [shape, first] : {std::pair{Shape{3, 2}, 2.0f}, std::pair{Shape{2, 3}, 1.0f}}) {
    Made other = right("transformer.");
    other.add("lm_head.weight", shape, first);
    other.write(folder / "other");
    Model untouched;
    std::string text =
        message_of([&] { load_tensors(folder / "other", untouched.expected, gpt2); });
    CHECK(contains(text, "1 not tied"));
    CHECK(contains(text, "lm_head.weight " + to_string(shape) + " differs from wte.weight [3, 2]"));
    CHECK(untouched.untouched());
  }
}

TEST_CASE("a tied head stands in for the embedding where only it is there") {
  TemporaryFolder folder;
  Made made = right();
  made.views[0].name = "lm_head.weight";
  made.write(folder / "m");
  Model model;
  load_tensors(folder / "m", model.expected, gpt2);
  CHECK(model.loaded());
}

TEST_CASE("all tensors that do not fit are listed in one error, and nothing is written") {
  TemporaryFolder folder;
  Made made;
  made.add("wte.weight", {2, 3}, 1);
  made.add("h.1.attn.c_attn.bias", {3}, 1);
  made.add("surplus", {1}, 1);
  made.add("ln_f.weight", {2}, 1);
  made.views.back().dtype = Dtype::i32;
  made.write(folder / "m");
  Model model;
  std::string text = message_of([&] { load_tensors(folder / "m", model.expected, gpt2); });
  CAPTURE(text);
  CHECK(contains(text, (folder / "m").string()));
  CHECK(contains(text, "1 missing, 2 extra, 1 misshapen, 1 of a wrong type"));
  CHECK(contains(text, "missing: h.0.attn.c_attn.bias [3]"));
  CHECK(contains(text, "extra: h.1.attn.c_attn.bias [3]"));
  CHECK(contains(text, "extra: surplus [1]"));
  CHECK(contains(text, "misshapen: wte.weight is [2, 3], expected [3, 2]"));
  CHECK(contains(text, "wrong type: ln_f.weight is I32, which cannot be read as F64"));
  CHECK(model.untouched());
}

TEST_CASE("tensors are checked without a place to load them to, with the same error") {
  TemporaryFolder folder;
  Model model;
  for (Expected& one : model.expected) one.into = nullptr;
  auto check = [&](const fs::path& file) {
    check_tensors(std::span(&file, 1), model.expected, gpt2);
  };
  right("transformer.").write(folder / "fits");
  CHECK_NOTHROW(check(folder / "fits"));

  Made made = right();
  made.add("lm_head.weight", {3, 2}, 2);
  made.add("surplus", {1}, 1);
  made.write(folder / "misfit");
  const std::string text = message_of([&] { check(folder / "misfit"); });
  CHECK(contains(text, "1 extra, 1 not tied"));
  Model loaded;
  CHECK(text == message_of([&] { load_tensors(folder / "misfit", loaded.expected, gpt2); }));
}

TEST_CASE("of thousands of tensors that do not fit, a few are named and all are counted") {
  TemporaryFolder folder;
  Made made = right();
  for (int k = 0; k < 5000; ++k) made.add("surplus." + std::to_string(k) + "\x1b[2J", {1}, 1);
  made.add(std::string(1'000'000, 'x'), {1}, 1);
  made.write(folder / "m");
  Model model;
  std::string text = message_of([&] { load_tensors(folder / "m", model.expected, gpt2); });
  CHECK(contains(text, "5001 extra"));
  CHECK(contains(text, "extra: and 4971 more"));
  CHECK(text.find('\x1b') == text.npos);
  CHECK(text.size() < 10'000);
}

TEST_CASE("shards are one model; a tensor in two of them is an error") {
  TemporaryFolder folder;
  Made made = right("transformer.");
  write_safetensors(folder / "1", std::span(made.views).first(1));
  write_safetensors(folder / "2", std::span(made.views).subspan(1));
  std::vector<fs::path> shards{folder / "1", folder / "2"};
  Model model;
  load_tensors(shards, model.expected, gpt2);
  CHECK(model.loaded());

  right().write(folder / "2");
  Model untouched;
  std::string text = message_of([&] { load_tensors(shards, untouched.expected, gpt2); });
  CHECK(contains(text, "given twice: wte.weight (in " + (folder / "2").string()));
  CHECK(untouched.untouched());
  CHECK_THROWS_AS(load_tensors(std::vector<fs::path>{}, model.expected), ArgumentError);
}

TEST_CASE("a suffix that is passed over does not hide a tensor that is wanted") {
  TemporaryFolder folder;
  Made made;
  made.add("h.0.attn.bias", {2}, 5);
  made.write(folder / "m");
  std::vector<float> bias(2);
  std::vector<Expected> expected{{"h.0.attn.bias", {2}, bias.data(), Dtype::f32}};
  load_tensors(folder / "m", expected, gpt2);
  CHECK(bias == std::vector<float>{5, 6});
}

TEST_CASE("a head that the files lack starts fresh where that is allowed") {
  TemporaryFolder folder;
  right("transformer.").write(folder / "m");
  Model model;
  std::vector<float> weight(4, -1), bias(2, -1);
  model.expected.push_back({"score.weight", {2, 2}, weight.data(), Dtype::f32});
  model.expected.push_back({"score.bias", {2}, bias.data(), Dtype::f32});
  LoadRules rules = gpt2;
  rules.heads = {{"score."}, {"qa_outputs."}};
  CHECK(contains(message_of([&] { load_tensors(folder / "m", model.expected, rules); }),
                 "(2 missing)"));
  CHECK(model.untouched());
  rules.missing_head = MissingHead::starts_fresh;
  const UnsharedHeads unshared = load_tensors(folder / "m", model.expected, rules);
  CHECK(model.loaded());
  CHECK(weight == std::vector<float>(4, -1));
  CHECK(unshared.fresh == std::vector<std::string>{"score.weight", "score.bias"});
  CHECK(unshared.left_out.empty());
  CHECK(to_string(unshared) ==
        "the weights have no such head: score.weight, score.bias start fresh");
  CHECK(to_string(UnsharedHeads{{"final_logits_bias"}, {}}) ==
        "the weights lack a bias of the head: final_logits_bias starts fresh");
  CHECK(check_tensors(std::vector<fs::path>{folder / "m"}, model.expected, rules).fresh ==
        unshared.fresh);

  // A head that is there in part is damaged, and what is of no head is never fresh.
  Made part = right();
  part.add("score.bias", {2}, 1);
  part.write(folder / "part");
  Model untouched;
  untouched.expected.push_back(model.expected[3]);
  untouched.expected.push_back(model.expected[4]);
  CHECK(contains(message_of([&] { load_tensors(folder / "part", untouched.expected, rules); }),
                 "missing: score.weight [2, 2]"));
  untouched.expected.resize(3);
  untouched.expected.push_back({"ln_f.bias", {2}, bias.data(), Dtype::f32});
  CHECK(contains(message_of([&] { load_tensors(folder / "m", untouched.expected, rules); }),
                 "missing: ln_f.bias [2]"));
  CHECK(untouched.untouched());
}

TEST_CASE("a head that the model lacks is left out, and no other tensor is") {
  TemporaryFolder folder;
  Made made = right();
  made.add("score.weight", {2, 2}, 1);
  made.write(folder / "m");
  Model model;
  LoadRules rules = gpt2;
  rules.heads = {{"score."}};
  CHECK(load_tensors(folder / "m", model.expected, rules).left_out ==
        std::vector<std::string>{"score.weight"});
  CHECK(model.loaded());
  made.add("scores.weight", {2, 2}, 1);
  made.write(folder / "m");
  CHECK(contains(message_of([&] { load_tensors(folder / "m", model.expected, rules); }),
                 "extra: scores.weight [2, 2]"));
}

}  // namespace sinter::detail::testing::load_tests
