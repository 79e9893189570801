// SPDX-License-Identifier: Apache-2.0
// eval and generate.
#include <cmath>
#include <numbers>

#include "binary/support.hpp"

namespace sinter::detail::testing::evaluation_tests {

std::string trained(Scratch& scratch) {
  std::string text = write(scratch / "text", some_text(20000));
  Ended ended = run({"train", "--data", text, "--out", scratch / "run", "--steps", "40"});
  REQUIRE_MESSAGE(ended.code == 0, ended.err);
  return scratch / "run";
}

TEST_CASE("eval predicts each byte but the first once, whatever the length") {
  Scratch scratch;
  std::string weights = trained(scratch), all = some_text(1000);
  for (std::size_t bytes : {2, 16, 17, 18, 33, 200, 1000}) {
    std::string data = write(scratch / "data", all.substr(0, bytes));
    Json e = run({"eval", "--json", "--weights", weights, "--data", data}).json();
    CHECK(e.size() == 4);
    CHECK(e["tokens"] == bytes - 1);
    double loss = e["loss"];
    CHECK(loss > 0);
    CHECK(e["perplexity"].get<double>() == doctest::Approx(std::exp(loss)));
    CHECK(e["bits_per_byte"].get<double>() == doctest::Approx(loss / std::numbers::ln2));
  }
}

TEST_CASE("eval is the mean over the windows, each seen alone") {
  Scratch scratch;
  std::string weights = trained(scratch), all = some_text(5 * 16 + 8);
  double sum = 0;
  for (std::size_t begin = 0; begin + 1 < all.size(); begin += 16) {
    std::string part = write(scratch / "part", all.substr(begin, 17));
    Json e = run({"eval", "--json", "--weights", weights, "--data", part}).json();
    sum += e["loss"].get<double>() * e["tokens"].get<double>();
  }
  Json whole =
      run({"eval", "--json", "--weights", weights, "--data", write(scratch / "all", all)}).json();
  CHECK(whole["tokens"] == all.size() - 1);
  CHECK(whole["loss"].get<double>() == doctest::Approx(sum / double(all.size() - 1)).epsilon(1e-6));
}

TEST_CASE("eval prints for people the loss of all data together") {
  Scratch scratch;
  std::string weights = trained(scratch);
  Ended plain = run({"eval", "--weights", weights, "--data", scratch / "text", scratch / "text"});
  CHECK(plain.code == 0);
  CHECK(plain.out.find("bits per byte") != plain.out.npos);
  CHECK(plain.out.find("39,999 bytes") != plain.out.npos);
}

TEST_CASE("generate writes as many tokens as asked for, and the same for the same seed") {
  Scratch scratch;
  std::string weights = trained(scratch);
  auto text = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"generate", "--weights", weights, "--json", "--tokens", "50"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words).json()["text"].get<std::string>();
  };
  CHECK(text({"--prompt", "the ", "--seed", "1"}) == text({"--prompt", "the ", "--seed", "1"}));
  CHECK(text({"--prompt", "the ", "--seed", "1"}) != text({"--prompt", "the ", "--seed", "2"}));
  std::string greedy = text({"--prompt", "the ", "--temperature", "0"});
  CHECK(greedy == text({"--prompt", "the ", "--temperature", "0", "--seed", "5"}));
  CHECK(greedy == text({"--prompt", "the ", "--top-k", "1", "--seed", "6"}));
  CHECK(greedy.size() == 50);
  Ended raw = run({"generate", "--weights", weights, "--prompt", "the ", "--temperature", "0",
                   "--tokens", "50"});
  CHECK(raw.out.starts_with("the " + greedy));
  check_refused(run({"generate", "--weights", weights, "--tokens", "5"}), 1,
                "The prompt is empty, and the model's tokenizer puts no token before a text");
}

TEST_CASE("generate --json is one valid line whatever the model writes") {
  Scratch scratch;
  REQUIRE(run({"export", "--out", scratch / "fresh"}).code == 0);
  Json g = run({"generate", "--weights", scratch / "fresh", "--json", "--tokens", "300", "--prompt",
                "a\"\n\xff", "--temperature", "1", "--seed", "3"})
               .json();
  CHECK(g["prompt"] == "a\"\n\xef\xbf\xbd");
  CHECK(g["seed"] == 3);
  CHECK(g["text"].get<std::string>().size() >= 300);
}

}  // namespace sinter::detail::testing::evaluation_tests
