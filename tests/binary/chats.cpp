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

}  // namespace sinter::detail::testing::chats_tests
