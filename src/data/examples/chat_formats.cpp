// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sinter/data/chat_formats.hpp"

#include <fmt/format.h>

namespace sinter {
namespace {

/// What Python's strip() takes for white space, in UTF-8.
constexpr std::string_view white_space[] = {" ",
                                            "\t",
                                            "\n",
                                            "\v",
                                            "\f",
                                            "\r",
                                            "\x1c",
                                            "\x1d",
                                            "\x1e",
                                            "\x1f",
                                            "\xc2\x85",
                                            "\xc2\xa0",
                                            "\xe1\x9a\x80",
                                            "\xe2\x80\x80",
                                            "\xe2\x80\x81",
                                            "\xe2\x80\x82",
                                            "\xe2\x80\x83",
                                            "\xe2\x80\x84",
                                            "\xe2\x80\x85",
                                            "\xe2\x80\x86",
                                            "\xe2\x80\x87",
                                            "\xe2\x80\x88",
                                            "\xe2\x80\x89",
                                            "\xe2\x80\x8a",
                                            "\xe2\x80\xa8",
                                            "\xe2\x80\xa9",
                                            "\xe2\x80\xaf",
                                            "\xe2\x81\x9f",
                                            "\xe3\x80\x80"};

/// A text without white space around it, as Python's strip() leaves it.
std::string_view stripped(std::string_view text) {
  const auto begins = [&](std::string_view blank) { return text.starts_with(blank); };
  const auto ends = [&](std::string_view blank) { return text.ends_with(blank); };
  for (auto at = std::ranges::find_if(white_space, begins); at != std::end(white_space);
       at = std::ranges::find_if(white_space, begins))
    text.remove_prefix(at->size());
  for (auto at = std::ranges::find_if(white_space, ends); at != std::end(white_space);
       at = std::ranges::find_if(white_space, ends))
    text.remove_suffix(at->size());
  return text;
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
