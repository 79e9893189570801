// SPDX-License-Identifier: Apache-2.0
// Conversations from the command line: training, a run that goes on, and a reply.
#include "binary/support.hpp"

namespace sinter::detail::testing::chats_tests {

/// Questions whose answer is one word each, in two forms of records.
std::string conversations(int count) {
  std::string lines;
  for (int k = 0; k < count; ++k) {
    const bool up = k % 2 == 0;
    const Json asked{{"role", "user"}, {"content", up ? "up" : "left"}},
        answered{{"role", "assistant"}, {"content", up ? "down" : "right"}};
    const Json turns{{"messages", {asked, answered}}},
        alpaca{{"instruction", asked["content"]}, {"output", answered["content"]}};
    lines += (k % 3 == 0 ? alpaca : turns).dump() + "\n";
  }
  return lines;
}

TEST_CASE("a run on conversations goes on with the same bits, and replies") {
  Scratch scratch;
  const std::string file = write(scratch / "a.jsonl", conversations(60) + "{}\n");
  const Words data{"train", "--data", file, "--seed", "7", "--eval-every", "40", "--threads", "2"};
  const std::string whole = scratch / "whole", parts = scratch / "parts";
  const Ended ended = fine(data + Words{"--out", whole, "--steps", "120"}, SINTER_CHATS);
  CHECK(ended.out.find("60 examples of 60 conversations in 1 file, the last 6 held") !=
        std::string::npos);
  CHECK(ended.out.find(" are learnt; 0.00 % are cut") != std::string::npos);
  CHECK(ended.says("left out of the data: 1 conversation (line 61 of '"));
  fine(data + Words{"--out", parts, "--steps", "40"}, SINTER_CHATS);
  fine(data + Words{"--out", parts, "--steps", "120", "--resume"}, SINTER_CHATS);
  require_same_end(whole, parts);
  for (const auto& [asked, answered] : {std::pair{"up", "down"}, {"left", "right"}}) {
    const Ended reply =
        fine({"generate", "--weights", whole, "--prompt", asked, "--temperature", "0", "--quiet"},
             SINTER_CHATS);
    CHECK(reply.out == std::string(asked) + "\n " + answered + "\n");
  }
  const Ended object = fine({"generate", "--weights", whole, "--prompt",
                             R"({"messages": [{"role": "user", "content": "up"}]})",
                             "--temperature", "0", "--quiet", "--json"},
                            SINTER_CHATS);
  CHECK(Json::parse(object.out)["text"] == " down");
}

TEST_CASE("evaluations write replies and score them, unless a flag skips that") {
  Scratch scratch;
  const std::string file = write(scratch / "a.jsonl", conversations(60)), out = scratch / "run";
  const Words data{"train", "--data", file, "--seed", "7", "--eval-every", "40", "--threads", "2"};
  const Words by{"--best-by", "exact_match_squad"}, skip{"--skip-generation"};
  fine(data + Words{"--out", out, "--steps", "120"} + by, SINTER_CHATS);
  CHECK(metrics(out)[39].contains("val_exact_match_squad"));
  CHECK(metrics(out)[119]["val_exact_match_squad"] == 1);
  CHECK(metrics(out)[119].contains("val_token_accuracy"));

  const Words eval{"eval", "--data", file, "--weights", out + "@last", "--quiet"};
  CHECK(fine(eval, SINTER_CHATS).out.find("exact_match_squad  1.000000") != std::string::npos);
  CHECK(fine(eval + Words{"--json"}, SINTER_CHATS).json()["exact_match_squad"] == 1);
  const Json skipped = fine(eval + Words{"--json"} + skip, SINTER_CHATS).json();
  CHECK_FALSE(skipped.contains("exact_match_squad"));
  CHECK(skipped.contains("token_accuracy"));

  const Words on = data + Words{"--out", out, "--resume"};
  const Ended refused = run(on + Words{"--steps", "160"} + skip, SINTER_CHATS);
  CHECK(refused.code != 0);
  CHECK(refused.says("names 'exact_match_squad', a metric of replies, and generation is skipped"));
  const Ended by_flag =
      run(data + Words{"--out", scratch / "other", "--steps", "9"} + by + skip, SINTER_CHATS);
  CHECK(by_flag.says("--best-by names 'exact_match_squad', a metric of replies"));
  fine(on + Words{"--steps", "160", "--best-by", "loss"} + skip, SINTER_CHATS);
  CHECK_FALSE(metrics(out)[159].contains("val_exact_match_squad"));
  fine(on + Words{"--steps", "200"}, SINTER_CHATS);  // nothing remembers that it was skipped
  CHECK(metrics(out)[199].contains("val_exact_match_squad"));

  const Ended nothing =
      run({"eval", "--data", file, "--weights", out, "--skip-generation"}, SINTER_REPLIES);
  CHECK(nothing.code == 2);
  CHECK(nothing.says("--skip-generation is nothing to eval"));
}

}  // namespace sinter::detail::testing::chats_tests
