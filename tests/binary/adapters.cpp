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

  const double before = loss_of(text, {"--weights", base}, SINTER_SMALL);
  const double after = loss_of(text, {"--weights", lora}, SINTER_ADAPTED);
  CHECK(after < before - .05);
  CHECK(loss_of(text, {"--weights", base}, SINTER_ADAPTED) == before);
  CHECK(loss_of(text, {"--weights", base, "--adapter", adapter}, SINTER_ADAPTED) == after);
  CHECK(loss_of(text, {"--weights", merged}, SINTER_SMALL) == doctest::Approx(after).epsilon(1e-5));
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
