// SPDX-License-Identifier: Apache-2.0
// A format of conversations to copy. docs/add_a_chat_format.md explains each member. This file compiles,
// and checks which tokens of a conversation are learnt.
#include <cstdio>
#include <sinter/sinter.hpp>

namespace acme {
using namespace sinter;

/// Each message is a line with a sign before it, as in a play.
struct Play {
  // Writes a conversation. What reply() writes is learnt; `generate` shows the model all that stands
  // before the last reply. end() ends a message with a special token, here that of a text's end.
  static void write(std::span<const ChatMessage> chat, ChatText& text) {
    for (const ChatMessage& message : chat) {
      text.text(message.role == ChatRole::assistant ? "< " : "> ");
      if (message.role == ChatRole::assistant)
        text.reply(message.content).end("");
      else
        text.text(message.content);
      text.text("\n");
    }
  }

  // Optional: why a conversation has no such form. Its record is then a bad record.
  static std::string problem(std::span<const ChatMessage> chat) {
    for (const ChatMessage& message : chat)
      if (message.role == ChatRole::system) return "has a system's message, and a play has none";
    return "";
  }
};

static_assert(ChatFormat<Play>);  // the compiler names what is missing

struct replies
    : Recipe<Gpt2<{.layers = 1, .heads = 2, .width = 16, .vocabulary = 258, .positions = 64}>,
             Chat<Play, {.context = 64}>, Batch<{.global = 4, .micro = 4}>> {};
static_assert(ready<replies>());

}  // namespace acme

int main() {
  const std::vector<sinter::ChatMessage> chat{{sinter::ChatRole::user, "Up?"},
                                              {sinter::ChatRole::assistant, "No."}};
  if (!acme::Play::problem(chat).empty()) return 1;
  sinter::ChatText text;
  acme::Play::write(chat, text);
  std::string shown, learnt;
  for (const auto& part : text.parts()) (part.learnt ? learnt : shown) += part.text;
  const sinter::Prompt prompt =
      sinter::Chat<acme::Play>::prompt({}, sinter::byte_tokenizer(), "Up?");
  const std::string before(prompt.tokens.begin(), prompt.tokens.end());
  std::printf("learnt: %s\nprompt: %s\n", learnt.c_str(), before.c_str());
  return learnt == "No." && shown == "> Up?\n< \n" && before == "> Up?\n< " ? 0 : 1;
}
