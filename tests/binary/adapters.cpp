// SPDX-License-Identifier: Apache-2.0
// Adapters at the command line: trained beside a model that stays, written alone and merged.
#include "binary/support.hpp"

namespace sinter::detail::testing::adapters_tests {

/// The loss of an evaluation.
double loss_of(const std::string& data, const std::vector<std::string>& weights,
               const std::string& binary) {
  std::vector<std::string> words{"eval", "--data", data, "--json", "--threads", "1"};
  words.insert(words.end(), weights.begin(), weights.end());
  const Ended ended = run(words, binary);
  REQUIRE_MESSAGE(ended.code == 0, ended.err);
  return ended.json()["loss"];
}
void must_run(const std::vector<std::string>& words, const std::string& binary) {
  const Ended ended = run(words, binary);
  REQUIRE_MESSAGE(ended.code == 0, ended.err);
}

TEST_CASE("adapters are trained on exported weights, written as PEFT's folder, and merged") {
  const Scratch scratch;
  const std::string text = write(scratch / "text", some_text(4000)), base = scratch / "base",
                    lora = scratch / "lora", adapter = scratch / "adapter",
                    merged = scratch / "merged";
  must_run({"export", "--out", base, "--quiet"}, SINTER_SMALL);
  must_run({"train", "--weights", base, "--data", text, "--out", lora, "--steps", "20", "--threads",
            "1", "--quiet"},
           SINTER_ADAPTED);
  must_run({"export", "--weights", lora, "--as-adapter", "--out", adapter}, SINTER_ADAPTED);
  must_run({"export", "--weights", lora, "--out", merged, "--quiet"}, SINTER_ADAPTED);
  CHECK(fs::exists(adapter + "/adapter_model.safetensors"));
  CHECK(Json::parse(content(adapter + "/adapter_config.json"))["r"] == 4);
  const auto base_of = [&](const Words& weights, const std::string& name) {
    fine(Words{"export", "--as-adapter", "--out", scratch / name} + weights, SINTER_ADAPTED);
    return Json::parse(
        content(scratch / (name + "/adapter_config.json")))["base_model_name_or_path"];
  };
  CHECK(base_of({"--weights", lora}, "of_run") == base);
  CHECK(base_of({"--weights", base, "--adapter", adapter}, "of_folder") == base);
  must_run({"train", "--weights", lora, "--data", text, "--out", scratch / "more", "--steps", "5",
            "--quiet"},
           SINTER_ADAPTED);
  CHECK(base_of({"--weights", scratch / "more"}, "of_more") == base);
  CHECK(base_of({}, "of_none").is_null());

  const double before = loss_of(text, {"--weights", base}, SINTER_SMALL);
  const double after = loss_of(text, {"--weights", lora}, SINTER_ADAPTED);
  CHECK(after < before - .05);
  CHECK(loss_of(text, {"--weights", base}, SINTER_ADAPTED) == before);
  CHECK(loss_of(text, {"--weights", base, "--adapter", adapter}, SINTER_ADAPTED) == after);
  CHECK(loss_of(text, {"--weights", merged}, SINTER_SMALL) == doctest::Approx(after).epsilon(1e-5));

  // Where the adapters are forgotten, the output is the base's, which a note says.
  const std::string note = "the weights have no adapters: those of the recipe start fresh";
  const Words eval{"eval", "--data", text, "--weights"};
  CHECK(fine(eval + Words{base}, SINTER_ADAPTED).says(note));
  for (const Words& weights : {Words{base, "--adapter", adapter}, Words{lora}})
    CHECK(!fine(eval + weights, SINTER_ADAPTED).says(note));
  CHECK(!fine(eval + Words{base}).says(note));
}

TEST_CASE("adapters are trained beside weights in int8, resumed, and merged into them") {
  const Scratch scratch;
  const std::string text = write(scratch / "text", some_text(4000)), base = scratch / "base",
                    lora = scratch / "lora", merged = scratch / "merged";
  must_run({"export", "--out", base, "--quiet"}, SINTER_SMALL);
  const Words train{"train", "--data",  text,           "--out", lora,     "--threads",
                    "1",     "--quiet", "--save-every", "5",     "--steps"};
  must_run(train + Words{"10", "--weights", base}, SINTER_ADAPTED_INT8);
  must_run(train + Words{"20", "--resume"}, SINTER_ADAPTED_INT8);
  must_run({"export", "--weights", lora, "--out", merged, "--quiet"}, SINTER_ADAPTED_INT8);
  const double before = loss_of(text, {"--weights", base}, SINTER_SMALL),
               rounded = loss_of(text, {"--weights", base}, SINTER_ADAPTED_INT8),
               after = loss_of(text, {"--weights", lora + "@last"}, SINTER_ADAPTED_INT8);
  CHECK(rounded != before);
  CHECK(rounded == doctest::Approx(before).epsilon(1e-2));
  CHECK(after < before - .05);
  CHECK(loss_of(text, {"--weights", lora}, SINTER_ADAPTED_INT8) ==
        doctest::Approx(loss_of(text, {"--weights", merged}, SINTER_SMALL)).epsilon(1e-5));
  const Json small = fine({"describe", "--json"}, SINTER_ADAPTED_INT8).json(),
             whole = fine({"describe", "--json"}, SINTER_ADAPTED).json();
  CHECK(small["options"]["lora.base"] == "int8");
  // Two matrices of 64 × 16, of 4 bytes a number or 34 / 32.
  CHECK(whole["memory"]["parameters"].get<int>() - small["memory"]["parameters"].get<int>() ==
        2 * 64 * 16 * 4 - 2 * 64 * 16 * 34 / 32);
}

TEST_CASE("an adapter brings the head that a body lacks, and no other tensor") {
  const Scratch scratch;
  std::string rows = "label\ttext\n", texts;
  for (int k = 0; k < 60; ++k) {
    const std::string text = std::string(1 + k % 5, k % 2 == 0 ? 'q' : 'x');
    rows += (k % 2 == 0 ? "good\t" : "bad\t") + text + "\n";
    if (k < 8) texts += text + "\n";
  }
  const std::string data = write(scratch / "a.tsv", rows), asked = write(scratch / "asked", texts),
                    body = scratch / "body", out = scratch / "run", adapter = scratch / "adapter";
  fine({"export", "--out", body}, SINTER_ADAPTED_LABELS);
  make_body(body + "/model.safetensors");
  fine({"train", "--weights", body, "--data", data, "--steps", "30", "--out", out, "--quiet"},
       SINTER_ADAPTED_LABELS);
  fine({"export", "--weights", out, "--as-adapter", "--out", adapter}, SINTER_ADAPTED_LABELS);
  CHECK(Json::parse(content(adapter + "/adapter_config.json"))["task_type"] == "SEQ_CLS");

  const Words predict{"predict", "--text", asked, "--json", "--weights"},
      both{body, "--adapter", adapter};
  const Ended found = fine(predict + both, SINTER_ADAPTED_LABELS);
  CHECK(found.out == fine(predict + Words{out}, SINTER_ADAPTED_LABELS).out);
  CHECK(!found.says("fresh"));
  const auto exported = [&](const std::string& name, const Words& weights) {
    fine(Words{"export", "--out", scratch / name, "--weights"} + weights, SINTER_ADAPTED_LABELS);
    return content(scratch / (name + "/model.safetensors"));
  };
  CHECK(exported("of_both", both) == exported("of_run", {out}));
  check_refused(run(predict + Words{body}, SINTER_ADAPTED_LABELS), 1, "classifier.weight");
}

TEST_CASE("flags of adapters that have no effect are refused") {
  const Scratch scratch;
  check_refused(run({"export", "--as-adapter", "--out", scratch / "a"}, SINTER_SMALL), 1,
                "has no adapters");
  check_refused(run({"export", "--as-adapter", "--gguf", scratch / "a"}, SINTER_ADAPTED), 2,
                "--as-adapter writes PEFT's folder");
  check_refused(
      run({"train", "--data", write(scratch / "t", some_text(999)), "--adapter", scratch / "b"},
          SINTER_ADAPTED),
      2, "--weights");
}

}  // namespace sinter::detail::testing::adapters_tests
