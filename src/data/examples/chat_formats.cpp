// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/chat_formats.hpp"

#include <fmt/format.h>

namespace sinter {
namespace {

/// A text without white space around it, as Python's strip() leaves it of ASCII.
std::string_view stripped(std::string_view text) {
  constexpr std::string_view blanks = " \t\n\r\v\f\x1c\x1d\x1e\x1f";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

bool is_from(const ChatMessage& message, ChatRole role) { return message.role == role; }

}  // namespace

void ChatMl::write(std::span<const ChatMessage> chat, ChatText& text) {
  for (const ChatMessage& message : chat)
    text.mark("<|im_start|>")
        .text(fmt::format("{}\n", name_of(message.role)))
        .said(message)
        .end("<|im_end|>")
        .text("\n");
}

std::string Llama2Chat::problem(std::span<const ChatMessage> chat) {
  const std::size_t first = is_from(chat.front(), ChatRole::system) ? 1 : 0;
  for (std::size_t k = first; k < chat.size(); ++k) {
    const ChatRole due = (k - first) % 2 == 0 ? ChatRole::user : ChatRole::assistant;
    if (!is_from(chat[k], due))
      return fmt::format(
          "does not alternate: message {} is the {}'s, and Llama 2's form has the {}'s there",
          k + 1, name_of(chat[k].role), name_of(due));
  }
  return "";
}

void Llama2Chat::write(std::span<const ChatMessage> chat, ChatText& text) {
  std::string system;
  for (const ChatMessage& message : chat) {
    if (is_from(message, ChatRole::system)) {
      system = fmt::format("<<SYS>>\n{}\n<</SYS>>\n\n", message.content);
    } else if (is_from(message, ChatRole::user)) {
      text.mark("<s>").text(fmt::format("[INST] {} [/INST]", stripped(system + message.content)));
      system.clear();
    } else {
      text.reply(fmt::format(" {} ", stripped(message.content))).end("</s>");
    }
  }
}

void Llama3Chat::write(std::span<const ChatMessage> chat, ChatText& text) {
  text.mark("<|begin_of_text|>");
  for (const ChatMessage& message : chat)
    text.mark("<|start_header_id|>")
        .text(name_of(message.role))
        .mark("<|end_header_id|>")
        .text("\n\n")
        .said({message.role, std::string(stripped(message.content))})
        .end("<|eot_id|>");
}

std::string Alpaca::problem(std::span<const ChatMessage> chat) {
  if (chat.size() == 2 && is_from(chat[0], ChatRole::user) && is_from(chat[1], ChatRole::assistant))
    return "";
  return "is not one message of the user and its reply, which is all that Alpaca's prompt has";
}

void Alpaca::write(std::span<const ChatMessage> chat, ChatText& text) {
  const ChatMessage& user = chat[0];
  const std::string_view asked = user.instruction.empty() ? user.content : user.instruction;
  if (user.input.empty())
    text.text(
        fmt::format("Below is an instruction that describes a task. Write a response that "
                    "appropriately completes the request.\n\n### Instruction:\n{}\n\n### "
                    "Response:",
                    asked));
  else
    text.text(
        fmt::format("Below is an instruction that describes a task, paired with an input that "
                    "provides further context. Write a response that appropriately completes "
                    "the request.\n\n### Instruction:\n{}\n\n### Input:\n{}\n\n### Response:",
                    asked, user.input));
  for (const ChatMessage& message : chat.subspan(1)) text.reply(message.content).end("");
}

void PlainChat::write(std::span<const ChatMessage> chat, ChatText& text) {
  constexpr std::string_view names[] = {"System:", "User:", "Assistant:"};
  for (const ChatMessage& message : chat) {
    text.text(names[int(message.role)]).said({message.role, " " + message.content});
    if (is_from(message, ChatRole::assistant)) text.end("");
    text.text("\n");
  }
}

}  // namespace sinter
