// SPDX-License-Identifier: Apache-2.0
// The formats of conversations that are known.
#pragma once
#include "sinter/data/chat_format.hpp"

namespace sinter {

/// ChatML, as Qwen and many fine-tuned models have it. Each message is
///   <|im_start|>role⏎content<|im_end|>⏎
struct ChatMl {
  static void write(std::span<const ChatMessage> chat, ChatText& text);
};

/// Llama 2's form, also that of early Mistral models. Messages of the user and of the assistant
/// take turns, and a system's message may come first; white space around each is left out. Each
/// turn is
///   <s>[INST] user [/INST] assistant </s>
/// and the first user's message begins with <<SYS>>⏎system⏎<</SYS>>⏎⏎.
struct Llama2Chat {
  static void write(std::span<const ChatMessage> chat, ChatText& text);
  static std::string problem(std::span<const ChatMessage> chat);
};

/// Llama 3's form. Behind <|begin_of_text|> each message, without white space around it, is
///   <|start_header_id|>role<|end_header_id|>⏎⏎content<|eot_id|>
struct Llama3Chat {
  static void write(std::span<const ChatMessage> chat, ChatText& text);
};

/// The prompts of Stanford Alpaca, with and without an input, then the reply and the end of a text.
/// A conversation is one message of the user and its reply.
struct Alpaca {
  static void write(std::span<const ChatMessage> chat, ChatText& text);
  static std::string problem(std::span<const ChatMessage> chat);
};

/// Roles as text, for models without special tokens for them. Each message is a line
///   User: content
/// and a reply ends with the end of a text before its line break.
struct PlainChat {
  static void write(std::span<const ChatMessage> chat, ChatText& text);
};

}  // namespace sinter
